/** How long a command takes that does nothing. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { interleave } from '../lib/measure.mjs';

const run = promisify(execFile);

/** @type {import('../lib/report.mjs').Row[]} */
export const startRows = [
  // A pipe of a shell costs the same: the command gets the descriptor itself.
  execTrue('exec', 'stdout and stderr are /dev/null', ' >/dev/null 2>&1'),
  execTrue('exec-relayed', 'stdout and stderr are sockets, as node gives its children', ''),
  {
    id: 'run',
    title: 'sbx run -- true, network private',
    kind: 'time',
    target: { most: 0.3 },
    measure: (world) => measureRun(world, 'private'),
  },
  {
    id: 'run-host',
    title: 'sbx run -- true, network host',
    kind: 'time',
    target: { most: 0.3 },
    measure: (world) => measureRun(world, 'host'),
  },
  {
    id: 'create',
    title: 'sbx create: network host, against network private',
    kind: 'time',
    async measure(world) {
      const peers = ['host', 'private'].map((network) => ({
        run: `sbx create made-${network} --network ${network}`,
        after: `sbx rm --force --yes made-${network}`,
      }));
      return {
        commands: peers.map((peer) => peer.run),
        figures: await interleave(world, peers, 10 * world.rounds),
      };
    },
  },
];

function execTrue(id, how, redirection) {
  return {
    id,
    title: `exec of true, ${how}`,
    kind: 'time',
    target: { most: 2.2, goal: 1.5 },
    async measure(world) {
      const box = await world.box('host');
      const peers = [{ run: `sbx exec ${box} -- true${redirection}` }, { run: `node -e 0${redirection}` }];
      return {
        commands: peers.map((peer) => peer.run),
        figures: await interleave(world, peers, 40 * world.rounds),
      };
    },
  };
}

async function measureRun(world, network) {
  const peers = [{ run: `sbx run --network ${network} -- true` }];
  const image = process.env.SBX_BENCH_IMAGE ?? 'debian:stable-slim';
  const missing = await dockerIsMissing(image);
  if (missing === undefined) {
    const option = network === 'host' ? '--network host ' : '';
    peers.push({ run: `docker run --rm ${option}${image} true` });
  }
  const figures = await interleave(world, peers, 10 * world.rounds);
  return { commands: peers.map((peer) => peer.run), figures, note: missing };
}

/** Why docker cannot be measured; undefined when it can. */
async function dockerIsMissing(image) {
  try {
    await run('docker', ['version', '--format', '{{.Server.Version}}']);
  } catch {
    return 'no docker engine';
  }
  try {
    await run('docker', ['image', 'inspect', image]);
  } catch {
    return `no image ${image}; pull it or set SBX_BENCH_IMAGE`;
  }
  return undefined;
}
