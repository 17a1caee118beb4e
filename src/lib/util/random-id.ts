/** Random names. Not through node:crypto: loading it takes longer than all else that a fast verb does. */
import { closeSync, openSync, readSync } from 'node:fs';

/** `bytes` random bytes from the kernel, as twice as many hexadecimal digits. */
export function randomHex(bytes: number): string {
  const buffer = Buffer.alloc(bytes);
  const fd = openSync('/dev/urandom', 'r');
  try {
    for (let filled = 0; filled < bytes; ) filled += readSync(fd, buffer, filled, bytes - filled, null);
  } finally {
    closeSync(fd);
  }
  return buffer.toString('hex');
}
