/** What /proc says of single processes of this machine. */
import { readFileSync } from 'node:fs';
import { hasErrno } from '../../errors.ts';

/** The state letter of a process, such as `S`, `T` or `Z`; undefined when it is gone. */
export function stateOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.charAt(stat.lastIndexOf(')') + 2);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ESRCH')) return undefined;
    throw error;
  }
}

/** PF_EXITING of the kernel's sched.h. */
const EXITING = 0x4;

/** Whether a process is on its way out, in which the init of a pid namespace waits for all others; also true when it is gone. */
export function isExiting(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const flags = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 7)[6];
    return (Number(flags) & EXITING) !== 0;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ESRCH')) return true;
    throw error;
  }
}

/** The children of a process; none when it is gone or the kernel does not tell. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
      .trim()
      .split(' ')
      .filter(Boolean)
      .map(Number);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ESRCH')) return [];
    throw error;
  }
}
