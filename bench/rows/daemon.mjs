/** The daemon backend, at `sbx serve` on loopback, against the local backend in the same sandbox. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { keyTimes } from '../lib/keys.mjs';
import { interleave, percentile } from '../lib/measure.mjs';
import { openPty } from '../lib/pty.mjs';
import { freePort } from '../lib/world.mjs';

const BOX = 'bench-served';
/** How each peer calls it. */
const WAYS = [`served/${BOX}`, `local/${BOX}`];
const STREAM_BYTES = 1e9;
const FILE_BYTES = 2.5e8;

const cleanIn = `sbx exec local/${BOX} -- rm -f /tmp/in`;

/** @type {import('../lib/report.mjs').Row[]} */
export const daemonRows = [
  row('daemon-exec', 'exec of true through a server, against local', 40, {
    target: { most: 1.2 },
    run: (box) => `sbx exec ${box} -- true`,
  }),
  row('daemon-stdout', 'stdout of exec through a server into a pipe, against local', 5, {
    bytes: STREAM_BYTES,
    run: (box) => `sbx exec ${box} -- head -c ${STREAM_BYTES} /dev/zero | cat >/dev/null`,
  }),
  row('daemon-stdin', 'stdin of exec through a server from a pipe, against local', 5, {
    bytes: STREAM_BYTES,
    run: (box) => `head -c ${STREAM_BYTES} /dev/zero | sbx exec -i ${box} -- sh -c 'cat >/dev/null'`,
  }),
  row('daemon-cp-in', 'cp of one file into a sandbox through a server, against local', 5, {
    bytes: FILE_BYTES,
    before: `[ -e "$BENCH_TMP/big" ] || head -c ${FILE_BYTES} /dev/urandom >"$BENCH_TMP/big"`,
    run: (box) => `sbx cp "$BENCH_TMP/big" ${box}:/tmp/in`,
    after: cleanIn,
  }),
  row('daemon-cp-out', 'cp of one file out of a sandbox through a server, against local', 5, {
    bytes: FILE_BYTES,
    before: `sbx exec local/${BOX} -- sh -c '[ -e /tmp/out ] || head -c ${FILE_BYTES} /dev/urandom >/tmp/out'`,
    run: (box) => `sbx cp ${box}:/tmp/out "$BENCH_TMP/to/file"`,
    after: 'rm -rf "$BENCH_TMP/to"/*',
  }),
  {
    id: 'daemon-echo',
    title: "a key's echo in shell through a server, median, more than local",
    kind: 'absolute',
    unit: 'ms more',
    target: { most: 2 },
    measure: (world) => atServer(world, () => measureEcho(world)),
  },
];

/** @returns {import('../lib/report.mjs').Row} */
function row(id, title, rounds, { bytes, target, before, run, after }) {
  return {
    ...{ id, title, bytes, target, kind: bytes === undefined ? 'time' : 'rate' },
    measure: (world) =>
      atServer(world, async () => {
        const commands = WAYS.map(run);
        const peers = commands.map((command) => ({ before, run: command, after }));
        return { commands, figures: await interleave(world, peers, rounds * world.rounds) };
      }),
  };
}

/** `measure` with a server, a backend for it and a sandbox of it. */
async function atServer(world, measure) {
  mkdirSync(join(world.tmp, 'to'), { recursive: true });
  const port = await freePort();
  const listen = ['--listen', `127.0.0.1:${port}`];
  const elsewhere = ['--preview-listen', '127.0.0.1:0', '--egress-listen', '127.0.0.1:0'];
  const stop = await world.background(
    [process.execPath, world.env.SBX_ENTRY, 'serve', ...listen, ...elsewhere],
    /^serving at /,
  );
  await world.sbx(['backend', 'add', 'served', '--type', 'daemon', '--set', `url=http://127.0.0.1:${port}`]);
  try {
    await world.sbx(['create', BOX, '--backend', 'served', '--network', 'host']);
    return await measure();
  } finally {
    await world.sbx(['rm', '--force', '--yes', WAYS[0]]);
    await world.sbx(['backend', 'rm', '--yes', 'served']);
    await stop();
  }
}

async function measureEcho(world) {
  const session = ['--session', 'echo'];
  const argvOf = (way, more = []) => [
    process.execPath,
    world.env.SBX_ENTRY,
    'shell',
    way,
    ...session,
    ...more,
  ];
  const first = openPty(argvOf(WAYS[1], ['--command', 'echo ready; exec cat']), { env: world.env });
  await first.until('ready');
  await first.close();
  const clients = WAYS.map((way) => () => openPty(argvOf(way), { env: world.env }));
  const times = await keyTimes(clients, Math.max(1, Math.round(4 * world.rounds)));
  const [ours, theirs] = times.map((each) => percentile(each, 50));
  const p99 = times.map((each) => percentile(each, 99).toFixed(2));
  return {
    commands: WAYS.map((way) => `sbx shell ${way} ${session.join(' ')}`),
    figures: times.map((each) => ({ wall: percentile(each, 25), median: percentile(each, 50) })),
    value: Math.max(0, ours - theirs),
    note: `median ${ours.toFixed(2)} and ${theirs.toFixed(2)} ms, p99 ${p99.join(' and ')} ms`,
  };
}
