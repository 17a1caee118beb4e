/** What an idle sandbox costs in memory. */
import { readdirSync, readFileSync } from 'node:fs';

/** @type {import('../lib/report.mjs').Row[]} */
export const memoryRows = ['host', 'private'].map((network) => ({
  id: network === 'private' ? 'memory' : `memory-${network}`,
  title: `memory of an idle sandbox, network ${network}`,
  kind: 'absolute',
  unit: 'MB',
  target: { most: 3 },
  async measure(world) {
    const name = `idle-${network}`;
    await world.sbx(['create', name, '--network', network]);
    const { pid, helpers } = world.insideOf(name);
    const pids = [pid, ...helpers.map((helper) => helper.pid)].flatMap(withDescendants);
    const parts = pids.map((each) => ({ ...memoryOf(each), name: nameOf(each) }));
    await world.sbx(['rm', '--force', '--yes', name]);
    const sum = (key) => parts.reduce((total, part) => total + part[key], 0);
    return {
      commands: [`sbx create --network ${network}; PSS of ${parts.map((part) => part.name).join(', ')}`],
      value: sum('pss'),
      note: `RSS ${sum('rss').toFixed(1)} MB; PSS ${parts.map((part) => `${part.name} ${part.pss.toFixed(2)}`).join(', ')}`,
    };
  },
}));

function withDescendants(pid) {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const stat = readStat(name);
      return stat === undefined ? [] : [[Number(name), stat]];
    });
  const found = [pid];
  for (const each of found)
    found.push(...parents.filter(([, parent]) => parent === each).map(([child]) => child));
  return found;
}

/** The parent of a process; undefined when it has ended meanwhile. */
function readStat(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}

function memoryOf(pid) {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const kilobytes = (key) => Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1]);
  return { pss: (kilobytes('Pss') * 1024) / 1e6, rss: (kilobytes('Rss') * 1024) / 1e6 };
}

function nameOf(pid) {
  return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
}
