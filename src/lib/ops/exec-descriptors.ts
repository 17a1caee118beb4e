/** What stands behind a file descriptor, without touching the stream that Node keeps for it. */
import { fstatSync } from 'node:fs';
import { hasErrno } from '../errors.ts';

/** `file`: also a device. */
export type DescriptorKind = 'pipe' | 'socket' | 'file' | 'closed';

/** What `fd` is. */
export function kindOf(fd: number): DescriptorKind {
  try {
    const stats = fstatSync(fd);
    if (stats.isFIFO()) return 'pipe';
    return stats.isSocket() ? 'socket' : 'file';
  } catch (error) {
    if (hasErrno(error, 'EBADF')) return 'closed';
    throw error;
  }
}

/** Whether `fd` is a pipe. */
export function isPipe(fd: number): boolean {
  return kindOf(fd) === 'pipe';
}
