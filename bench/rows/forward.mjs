/** `forward` against socat: one stream, and many connections at once. The service is in the sandbox's network for both. */
import { spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { interleave, percentile } from '../lib/measure.mjs';
import { freePort } from '../lib/world.mjs';

const BYTES = 1e9;
const CONNECTIONS = 500;
const ECHO = fileURLToPath(new URL('../lib/echo.mjs', import.meta.url));

/** @type {import('../lib/report.mjs').Row[]} */
export const forwardRows = [
  oneStream('forward', 'host', '', 'socat as it comes'),
  oneStream('forward-wide', 'host', '-b 262144 ', 'socat with large buffers'),
  oneStream('forward-private', 'private', '', 'socat that starts socat in the network namespace'),
  manyConnections('forward-500', 'host'),
  manyConnections('forward-500-private', 'private'),
];

/** @returns {import('../lib/report.mjs').Row} */
function oneStream(id, network, buffer, against) {
  return {
    id,
    title: `forward of one stream, network ${network}, against ${against}`,
    kind: 'rate',
    target: { least: 1 },
    bytes: BYTES,
    async measure(world) {
      if (!has('socat')) return { note: 'no socat' };
      const box = await world.box(network);
      const port = await freePort();
      const source = `socat -d -d -u -b 262144 OPEN:/dev/zero TCP-LISTEN:${port},bind=127.0.0.1,reuseaddr,fork`;
      await world.background([...networkOf(world, box, network), ...source.split(' ')], /listening on/);
      const { ports, words } = await forwarders(world, box, network, port, buffer);
      const peers = ports.map((local) => ({
        run: `head -c ${BYTES} </dev/tcp/127.0.0.1/${local} >/dev/null`,
      }));
      return { commands: words, figures: await interleave(world, peers, 5 * world.rounds) };
    },
  };
}

/** @returns {import('../lib/report.mjs').Row} */
function manyConnections(id, network) {
  return {
    id,
    title: `${CONNECTIONS} connections at once, a byte there and back on each, network ${network}, against socat`,
    kind: 'time',
    async measure(world) {
      if (!has('socat')) return { note: 'no socat' };
      const box = await world.box(network);
      const port = await freePort();
      const echo = [process.execPath, ECHO, String(port)];
      await world.background([...networkOf(world, box, network), ...echo], /listening/);
      const { ports, words } = await forwarders(world, box, network, port, '');
      const all = ports.map(() => []);
      const slowest = ports.map(() => []);
      for (let round = 0; round <= 5 * world.rounds; round++) {
        for (const [index, local] of ports.entries()) {
          const begin = performance.now();
          const each = await Promise.all(Array.from({ length: CONNECTIONS }, () => roundTrip(local)));
          if (round === 0) continue;
          all[index].push(performance.now() - begin);
          slowest[index].push(percentile(each, 99));
        }
      }
      const figures = all.map((walls) => ({ wall: percentile(walls, 25), median: percentile(walls, 50) }));
      const [ours, theirs] = slowest.map((values) => percentile(values, 50).toFixed(0));
      return { commands: words, figures, note: `p99 of one: ${ours} ms, ${theirs} ms` };
    },
  };
}

/** The command that runs the words after it in the network of a sandbox. */
function networkOf(world, box, network) {
  if (network === 'host') return [];
  const pid = String(world.insideOf(box).pid);
  return ['nsenter', '-t', pid, '-U', '--preserve-credentials', '-n'];
}

/** Ours and socat, both from this machine to the port in the sandbox. */
async function forwarders(world, box, network, port, buffer) {
  const ports = [await freePort(), await freePort()];
  const ours = ['forward', box, `${ports[0]}:${port}`];
  await world.background([process.execPath, world.env.SBX_ENTRY, ...ours], /./);
  const join = `${networkOf(world, box, network).join(' ')} socat - TCP:127.0.0.1:${port}`;
  const target = network === 'host' ? `TCP:127.0.0.1:${port}` : `EXEC:"${join}"`;
  const options = buffer.trim().split(' ').filter(Boolean);
  const listen = `TCP-LISTEN:${ports[1]},bind=127.0.0.1,reuseaddr,fork,backlog=1024`;
  const socat = ['socat', '-d', '-d', ...options, listen, target];
  await world.background(socat, /listening on/);
  return { ports, words: [`sbx ${ours.join(' ')}`, socat.join(' ')] };
}

function roundTrip(port) {
  return new Promise((resolve, reject) => {
    const begin = performance.now();
    const socket = connect(port, '127.0.0.1', () => socket.write('x'));
    socket.once('error', reject);
    socket.once('data', () => {
      resolve(performance.now() - begin);
      socket.destroy();
    });
  });
}

function has(program) {
  return spawnSync(program, ['-V'], { stdio: 'ignore' }).error === undefined;
}
