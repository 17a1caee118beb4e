/** The processes of a running sandbox, as this machine sees them. */
import { readdirSync, readlinkSync } from 'node:fs';
import { hasErrno } from '../../errors.ts';

/** Pids of this machine of everything in the pid namespace of `init`, init first. A moment's picture. */
export function processesOf(init: number): number[] {
  const namespace = link(init, 'ns/pid');
  if (namespace === undefined) return [];
  const pids = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
  const others = pids.filter((pid) => pid !== init && link(pid, 'ns/pid') === namespace);
  return [init, ...others];
}

/** Sends `signal` to every process of the sandbox but its init; returns to how many. */
export function signalProcesses(init: number, signal: NodeJS.Signals): number {
  let sent = 0;
  for (const pid of processesOf(init)) {
    if (pid === init) continue;
    try {
      process.kill(pid, signal);
      sent++;
    } catch (error) {
      if (!hasErrno(error, 'ESRCH', 'EPERM')) throw error;
    }
  }
  return sent;
}

function link(pid: number, name: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/${name}`);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return undefined;
    throw error;
  }
}
