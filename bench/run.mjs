/** npm run bench: what users feel, each as a ratio with the figures behind it. See docs/performance.md. */
import { cpus, loadavg, release } from 'node:os';
import { parseArgs } from 'node:util';
import { resultOf, textOf } from './lib/report.mjs';
import { openWorld } from './lib/world.mjs';
import { completionRows } from './rows/completion.mjs';
import { daemonRows } from './rows/daemon.mjs';
import { dockerRows } from './rows/docker.mjs';
import { forwardRows } from './rows/forward.mjs';
import { listRows } from './rows/list.mjs';
import { loadRows } from './rows/load.mjs';
import { memoryRows } from './rows/memory.mjs';
import { shellRows } from './rows/shell.mjs';
import { snapshotRows } from './rows/snapshots.mjs';
import { startRows } from './rows/start.mjs';
import { streamRows } from './rows/streams.mjs';

const HELP = `node bench/run.mjs [--only ROW[,ROW]] [--rounds FACTOR] [--json] [--check] [--list]

  --only     only these rows
  --rounds   this many times the usual number of rounds, such as 0.2 or 3
  --json     print one JSON object
  --check    exit 1 when a target is missed or a row fails
  --list     print the names of the rows
`;

const rows = [
  ...startRows,
  ...completionRows,
  ...shellRows,
  ...streamRows,
  ...forwardRows,
  ...listRows,
  ...memoryRows,
  ...loadRows,
  ...snapshotRows,
  ...daemonRows,
  ...dockerRows,
];

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    rounds: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) process.stdout.write(HELP);
else if (values.list) process.stdout.write(rows.map(({ id }) => `${id}\n`).join(''));
else process.exitCode = await bench();

async function bench() {
  const only = values.only?.flatMap((names) => names.split(','));
  const unknown = only?.filter((name) => !rows.some(({ id }) => id === name)) ?? [];
  if (unknown.length > 0) throw new Error(`no row ${unknown.join(', ')}; see --list`);
  const chosen = (row) => only === undefined || only.includes(row.id);
  const factor = Number(values.rounds);
  if (!(factor > 0)) throw new Error(`--rounds takes a number above 0, not ${values.rounds}`);
  const machine = {
    node: process.version,
    kernel: release(),
    cpus: cpus().length,
    cpu: cpus()[0]?.model,
    user: process.getuid?.() === 0 ? 'root' : 'plain',
    load: loadavg()[0],
  };
  if (!values.json) {
    const { node, kernel, cpu, user, load } = machine;
    process.stdout.write(
      `node ${node}, Linux ${kernel}, ${machine.cpus} × ${cpu}, as ${user} user, load ${load?.toFixed(1)}\n\n`,
    );
  }
  const results = [];
  const tell = (result) => {
    results.push(result);
    if (!values.json) process.stdout.write(`${textOf(result)}\n`);
  };
  const world = openWorld({ rounds: factor });
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => void world.interrupt());
  try {
    for (const row of rows.filter(chosen)) {
      const result = await measured(row, world);
      if (world.interrupted) break;
      tell(result);
    }
  } finally {
    await world.close();
  }
  if (world.interrupted) return 130;
  if (values.json) process.stdout.write(`${JSON.stringify({ machine, results }, null, 2)}\n`);
  return values.check && results.some(({ verdict }) => verdict === 'missed' || verdict === 'failed') ? 1 : 0;
}

async function measured(row, world) {
  try {
    return resultOf(row, await row.measure(world));
  } catch (error) {
    return { id: row.id, title: row.title, verdict: 'failed', note: error.message };
  }
}
