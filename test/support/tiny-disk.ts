/** A file system with next to no room, to see what happens on a full disk. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { asRoot, isRoot } from './require.ts';

/** Whether this process may mount file systems. */
export const canMount = isRoot && spawnSync('unshare', ['-m', 'true']).status === 0;

/** `test` where this process may mount file systems. */
export const mounting = asRoot(canMount, 'the right to mount');

/** Mounts a tmpfs, of 64 KiB unless another `size` is given, on a new folder; gone when disposed. */
export function tinyDisk(folder: string, size = '64k'): Disposable {
  mkdirSync(folder);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', folder]);
  return { [Symbol.dispose]: () => execFileSync('umount', ['-l', folder]) };
}
