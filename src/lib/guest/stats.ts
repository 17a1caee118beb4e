/** Reads what stats.sh prints. The sandbox controls it: lines that make no sense are facts that are not known. */
import type { Stats } from '../backend/contract.ts';

const LINE = /^([a-z_]+) (\d{1,18})$/;

/** The facts of one sample that was taken at `time`. */
export function parseStats(text: string, time: Date): Stats {
  const facts = new Map<string, number>();
  for (const line of text.split('\n')) {
    const match = LINE.exec(line);
    if (match?.[1] !== undefined) facts.set(match[1], Number(match[2]));
  }
  const fact = (name: string, unit = 1) => {
    const value = facts.get(name);
    return value === undefined ? undefined : value / unit;
  };
  const all = {
    cpuMs: fact('cpu_us', 1000),
    cpus: fact('cpu_limit', 1000),
    memory: fact('memory'),
    memoryLimit: fact('memory_limit'),
    disk: fact('disk'),
    networkRx: fact('rx'),
    networkTx: fact('tx'),
    processes: fact('pids'),
  };
  const known = Object.entries(all).filter(([, value]) => value !== undefined);
  return { time: time.toISOString(), ...(Object.fromEntries(known) as Partial<typeof all>) };
}
