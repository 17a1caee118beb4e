/** Finding what runs of a sandbox whose init file is broken: its processes see mounts that name it. */
import * as fs from 'node:fs';
import { hasErrno } from '../../errors.ts';

/** Pids of this machine that have the root of sandbox `id`; those that we may not look at are left out. */
export function straysOf(id: string): number[] {
  const mark = `/sandboxes/${id}/upper/`;
  return fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && mountsOf(pid).includes(mark));
}

function mountsOf(pid: number): string {
  try {
    return fs.readFileSync(`/proc/${pid}/mountinfo`, 'latin1');
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EINVAL')) return '';
    throw error;
  }
}
