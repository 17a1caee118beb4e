/**
 * Opening files in a folder that a sandbox controls, from outside of it (Linux): every step below the folder is taken
 * from the directory before, and none through a symlink; nothing but regular files is read, and no more than a limit.
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { hasErrno } from '../../errors.ts';

const { O_RDONLY, O_WRONLY, O_RDWR, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** Linux's, which Node does not name. */
const O_PATH = 0o10000000;

/** What a missing, foreign or forbidden thing is told by: it is as good as not there. */
const ABSENT = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM', 'ENXIO', 'ENAMETOOLONG'];

/** Opens the folder itself, whose path is ours; undefined when it is not there. */
export async function openFolder(path: string): Promise<FileHandle | undefined> {
  return await openOrAbsent(path, O_RDONLY | O_DIRECTORY);
}

/** Opens a directory in an open one. */
export async function openDirectoryIn(parent: FileHandle, name: string): Promise<FileHandle | undefined> {
  return await openOrAbsent(within(parent, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

/** Opens a regular file in an open directory for reading. */
export async function openFileIn(parent: FileHandle, name: string): Promise<FileHandle | undefined> {
  // Non-blocking, or a FIFO in the file's place would hold us up.
  return await regular(await openOrAbsent(within(parent, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
}

/** Opens a regular file in an open directory for reading and writing. */
export async function openWritableIn(parent: FileHandle, name: string): Promise<FileHandle | undefined> {
  return await regular(await openOrAbsent(within(parent, name), O_RDWR | O_NOFOLLOW | O_NONBLOCK));
}

/** Opens a socket in an open directory, to be connected to by {@link pathOf}: not for reading or writing. */
export async function openSocketIn(parent: FileHandle, name: string): Promise<FileHandle | undefined> {
  const socket = await openOrAbsent(within(parent, name), O_PATH | O_NOFOLLOW);
  if (socket === undefined) return undefined;
  if ((await socket.stat()).isSocket()) return socket;
  await socket.close();
  return undefined;
}

/** The first `limit` bytes of a regular file in an open directory; undefined when there is none. */
export async function readFileIn(
  parent: FileHandle,
  name: string,
  limit: number,
): Promise<Buffer | undefined> {
  const file = await openFileIn(parent, name);
  if (file === undefined) return undefined;
  try {
    const buffer = Buffer.allocUnsafe(limit);
    let size = 0;
    while (size < limit) {
      const { bytesRead } = await file.read(buffer, size, limit - size, size);
      if (bytesRead === 0) break;
      size += bytesRead;
    }
    return Buffer.from(buffer.subarray(0, size));
  } finally {
    await file.close();
  }
}

/** Names in an open directory. */
export async function namesIn(directory: FileHandle): Promise<string[]> {
  return await readdir(pathOf(directory));
}

/** Whether somebody has the FIFO in an open directory open for reading; undefined when there is no FIFO. */
export async function isHeldOpen(parent: FileHandle, name: string): Promise<boolean | undefined> {
  const path = within(parent, name);
  let fifo: FileHandle;
  try {
    if (!(await lstat(path)).isFIFO()) return undefined;
    fifo = await open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    if (hasErrno(error, 'ENXIO')) return false;
    if (hasErrno(error, ...ABSENT)) return undefined;
    throw error;
  }
  try {
    return (await fifo.stat()).isFIFO() ? true : undefined;
  } finally {
    await fifo.close();
  }
}

/** The path of what is open, whatever its name now leads to. */
export function pathOf(handle: FileHandle): string {
  return `/proc/self/fd/${handle.fd}`;
}

function within(parent: FileHandle, name: string): string {
  return `${pathOf(parent)}/${name}`;
}

async function regular(file: FileHandle | undefined): Promise<FileHandle | undefined> {
  if (file === undefined || (await file.stat()).isFile()) return file;
  await file.close();
  return undefined;
}

async function openOrAbsent(path: string, flags: number): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags);
  } catch (error) {
    if (hasErrno(error, ...ABSENT)) return undefined;
    throw error;
  }
}
