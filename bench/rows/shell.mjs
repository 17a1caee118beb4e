/** `shell` on a real terminal, against dtach's own client on the same session. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { keyTimes } from '../lib/keys.mjs';
import { percentile } from '../lib/measure.mjs';
import { openPty } from '../lib/pty.mjs';

const FLOOD_BYTES = 5e7;
const PROMPT = 'ready$ ';
const BASH = `PS1='${PROMPT}' exec bash --norc --noprofile`;

/** @type {import('../lib/report.mjs').Row[]} */
export const shellRows = [
  {
    id: 'echo',
    title: "a key's echo in shell, p99, more than attaching with dtach itself",
    kind: 'absolute',
    unit: 'ms more',
    target: { most: 1 },
    measure: measureEcho,
  },
  {
    id: 'flood',
    title: 'output of a program in shell that does not stop, against dtach itself',
    kind: 'rate',
    bytes: FLOOD_BYTES,
    measure: measureFlood,
  },
  {
    id: 'shell',
    title: 'shell into a session that runs, until its prompt, against node -e 0',
    kind: 'time',
    measure: measureStart,
  },
];

async function measureEcho(world) {
  if (!hasDtach()) return { note: 'no dtach' };
  const clients = await clientsOf(world, 'echo', 'echo ready; exec cat');
  const rounds = Math.max(1, Math.round(4 * world.rounds));
  const times = await keyTimes(
    clients.map(({ open }) => open),
    rounds,
  );
  const [ours, theirs] = times.map((each) => percentile(each, 99));
  const medians = times.map((each) => percentile(each, 50).toFixed(2));
  return {
    commands: clients.map(({ words }) => words),
    figures: times.map((each) => ({ wall: percentile(each, 99), median: percentile(each, 50) })),
    value: Math.max(0, ours - theirs),
    note: `p99 ${ours.toFixed(2)} and ${theirs.toFixed(2)} ms, median ${medians.join(' and ')} ms`,
  };
}

async function measureFlood(world) {
  if (!hasDtach()) return { note: 'no dtach' };
  const clients = await clientsOf(world, 'flood', BASH);
  const rounds = Math.max(1, Math.round(3 * world.rounds));
  const times = clients.map(() => []);
  let least = FLOOD_BYTES;
  for (let round = 0; round < rounds; round++) {
    for (const [index, { open }] of clients.entries()) {
      const pty = open();
      pty.type('\r');
      await pty.until(PROMPT);
      pty.forget();
      const begin = performance.now();
      pty.type(`yes ${'0123456789'.repeat(7)} | head -c ${FLOOD_BYTES}; echo d"on"e\r`);
      await pty.until('done\r');
      times[index].push(performance.now() - begin);
      if (index === 0) least = Math.min(least, pty.bytes);
      await pty.close();
    }
  }
  return {
    commands: clients.map(({ words }) => words),
    figures: times.map((each) => ({ wall: percentile(each, 25), median: percentile(each, 50) })),
    note: `of the output ${((100 * least) / FLOOD_BYTES).toFixed(0)} % reached the terminal at least`,
  };
}

async function measureStart(world) {
  if (!hasDtach()) return { note: 'no dtach' };
  const [ours] = await clientsOf(world, 'start', BASH);
  const rounds = Math.max(1, Math.round(30 * world.rounds));
  const times = [[], []];
  for (let round = 0; round < rounds; round++) {
    for (const index of [0, 1]) {
      const begin = performance.now();
      const pty = index === 0 ? ours.open() : openPty([process.execPath, '-e', '0'], { env: world.env });
      if (index === 0) await pty.until(PROMPT);
      else await pty.ended;
      times[index].push(performance.now() - begin);
      await pty.close();
    }
  }
  return {
    commands: [ours.words, 'node -e 0'],
    figures: times.map((each) => ({ wall: percentile(each, 25), median: percentile(each, 50) })),
  };
}

/** Our client and dtach's, for a session that runs `command`. */
async function clientsOf(world, session, command) {
  const box = await world.box('host');
  const ours = ['shell', box, '--session', session];
  const open = (more = []) =>
    openPty([process.execPath, world.env.SBX_ENTRY, ...ours, ...more], { env: world.env });
  const first = open(['--command', command]);
  await first.until('ready');
  await first.close();
  const folder = join(world.insideOf(box).folder, 'guest', 'sessions', session);
  return [
    { words: `sbx ${ours.join(' ')}`, open: () => open() },
    {
      words: 'dtach -a SOCKET -r none',
      // By a short path: the address of a socket has room for 107 characters.
      open: () => openPty(['dtach', '-a', 'socket', '-r', 'none', '-E'], { env: world.env, cwd: folder }),
    },
  ];
}

function hasDtach() {
  return spawnSync('dtach', ['--help'], { stdio: 'ignore' }).error === undefined;
}
