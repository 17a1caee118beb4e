/** What stands behind a file descriptor, without touching the stream that Node keeps for it. */
import { fstatSync, type Stats } from 'node:fs';
import { hasErrno } from '../errors.ts';

/** `file`: also a device. */
export type DescriptorKind = 'pipe' | 'socket' | 'file' | 'closed';

/** Device number of /dev/null on Linux: major 1, minor 3. */
const NULL_DEVICE = 0x103;

/** What `fd` is. */
export function kindOf(fd: number): DescriptorKind {
  const stats = statOf(fd);
  if (stats === undefined) return 'closed';
  if (stats.isFIFO()) return 'pipe';
  return stats.isSocket() ? 'socket' : 'file';
}

/**
 * Whether a sandbox may have `fd` as its own: a pipe, or /dev/null. With a terminal, file or socket it could do more
 * than its command is meant to.
 */
export function mayBeHandedOver(fd: number): boolean {
  const stats = statOf(fd);
  if (stats === undefined) return false;
  return stats.isFIFO() || (stats.isCharacterDevice() && stats.rdev === NULL_DEVICE);
}

function statOf(fd: number): Stats | undefined {
  try {
    return fstatSync(fd);
  } catch (error) {
    if (hasErrno(error, 'EBADF')) return undefined;
    throw error;
  }
}
