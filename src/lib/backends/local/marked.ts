/** Processes that are told by a mark in their environment: those of a sandbox without walls. */
import * as fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasErrno, SbxError } from '../../errors.ts';

/** The variable whose value is the sandbox's id. */
export const MARK = 'SBX_SANDBOX_ID';

const LOOK_MS = 5;
/** A killed process that is not gone by then waits for a disk or a device that does not answer. */
const PATIENCE_MS = 10_000;

interface Row {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
}

/**
 * Pids of living processes of this machine that carry the mark of sandbox `id`, and of those that have cleared their
 * environment but descend from such a one or are in its session, which is the sandbox's own. Never our own.
 */
export function markedProcesses(id: string): number[] {
  const rows = fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => look(Number(name)) ?? []);
  const found = new Set(rows.filter(({ pid }) => isMarked(pid, id)).map(({ pid }) => pid));
  const sessions = new Set(rows.filter(({ pid }) => found.has(pid)).map(({ session }) => session));
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const { pid, parent, session } of rows)
      if (found.has(parent) || sessions.has(session)) found.add(pid);
  }
  found.delete(process.pid);
  return [...found];
}

/** Whether the process was started with the mark of sandbox `id`. */
export function isMarked(pid: number, id: string): boolean {
  try {
    return fs.readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${MARK}=${id}`);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return false;
    throw error;
  }
}

/** Kills all that is marked; resolves when it is gone. What became another user's is out of reach and stays. */
export async function killMarked(id: string): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    // A child may be born while we look, so we look until there is nothing.
    const left = markedProcesses(id).filter(kill);
    if (left.length === 0) return;
    if (performance.now() > end)
      throw new SbxError('failed', `these processes do not end: ${left.slice(0, 8).join(', ')}`);
    await sleep(LOOK_MS);
  }
}

/** @returns false for one that is gone or out of reach. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (hasErrno(error, 'ESRCH', 'EPERM')) return false;
    throw error;
  }
}

/** Undefined for one that has ended, waited for or not. */
function look(pid: number): Row | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' || state === 'X'
      ? undefined
      : { pid, parent: Number(parent), session: Number(session) };
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
}
