/** The processes of a running sandbox, as this machine sees them. */
import { readdirSync, readlinkSync } from 'node:fs';
import { hasErrno } from '../../errors.ts';
import type { InitProcess } from './init-process.ts';
import { markedProcesses } from './marked.ts';

/** What tells the processes of a sandbox from others. */
type Init = Pick<InitProcess, 'pid' | 'mark'>;

/** Pids of this machine of everything in the sandbox of `init`, init first. A moment's picture. */
export function processesOf({ pid, mark }: Init): number[] {
  const all = mark === undefined ? inNamespaceOf(pid) : markedProcesses(mark);
  return [pid, ...all.filter((each) => each !== pid)];
}

/** Sends `signal` to every process of the sandbox but its init; returns to how many. */
export function signalProcesses(init: Init, signal: NodeJS.Signals): number {
  let sent = 0;
  for (const pid of processesOf(init)) {
    if (pid === init.pid) continue;
    try {
      process.kill(pid, signal);
      sent++;
    } catch (error) {
      if (!hasErrno(error, 'ESRCH', 'EPERM')) throw error;
    }
  }
  return sent;
}

/** None where the pid namespace is our own: whoever that pid belongs to, it is no sandbox's first process. */
function inNamespaceOf(init: number): number[] {
  const namespace = link(init, 'ns/pid');
  if (namespace === undefined || namespace === link(process.pid, 'ns/pid')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => link(pid, 'ns/pid') === namespace);
}

function link(pid: number, name: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/${name}`);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return undefined;
    throw error;
  }
}
