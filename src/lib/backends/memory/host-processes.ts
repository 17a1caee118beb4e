/** Finds and signals the host processes of a command or a sandbox, also those that left its process group. */
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { hasErrno } from '../../errors.ts';

/** Milliseconds between two looks at `/proc`. */
const LOOK_INTERVAL = 15;

/** Pids of living processes whose environment holds `NAME=value`, and of their descendants. */
export async function findMarked(name: string, value: string): Promise<number[]> {
  const wanted = `${name}=${value}`;
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry)).map(Number);
  const alive: Row[] = [];
  // One after the other: there may be more processes than this one may have files open.
  for (const pid of pids) {
    const row = await look(pid, wanted);
    if (row !== undefined) alive.push(row);
  }
  const found = new Set(alive.filter((row) => row.marked).map((row) => row.pid));
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const row of alive) if (found.has(row.parent)) found.add(row.pid);
  }
  return [...found];
}

/** Sends `signal` to each of `pids`; those that are gone are no error. */
export function signalEach(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) sendSignal(pid, signal);
}

/** Sends `signal` to a process, or to a group with a negative number. @returns whether there was one. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (hasErrno(error, 'ESRCH')) return false;
    throw error;
  }
}

/** TERM to all marked processes, KILL to those left after `graceMs`; resolves when none is left. */
export async function endMarked(name: string, value: string, graceMs: number): Promise<void> {
  const asked = new Set<number>();
  for (const until = performance.now() + graceMs; performance.now() < until; await delay(LOOK_INTERVAL)) {
    const left = await findMarked(name, value);
    if (left.length === 0) return;
    // A child may be born while we look.
    const fresh = left.filter((pid) => !asked.has(pid));
    signalEach(fresh, 'SIGTERM');
    signalEach(fresh, 'SIGCONT');
    for (const pid of fresh) asked.add(pid);
  }
  for (;;) {
    const left = await findMarked(name, value);
    if (left.length === 0) return;
    signalEach(left, 'SIGKILL');
    await delay(LOOK_INTERVAL);
  }
}

interface Row {
  readonly pid: number;
  readonly parent: number;
  readonly marked: boolean;
}

async function look(pid: number, wanted: string): Promise<Row | undefined> {
  try {
    const [environ, stat] = await Promise.all([
      readFile(`/proc/${pid}/environ`, 'latin1'),
      readFile(`/proc/${pid}/stat`, 'latin1'),
    ]);
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return undefined;
    return { pid, parent: Number(parent), marked: environ.split('\0').includes(wanted) };
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return undefined;
    throw error;
  }
}
