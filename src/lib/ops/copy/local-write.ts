/**
 * Writes a tree to this machine. Everything goes to a folder beside its place first and moves when the tree is complete:
 * until then the destination is as it was, and no final name ever holds half a file.
 */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import {
  chmod,
  type FileHandle,
  lchown,
  link,
  lstat,
  lutimes,
  mkdir,
  open,
  rm,
  symlink,
  unlink,
  utimes,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasErrno, SbxError } from '../../errors.ts';
import { deepestFirst } from './directories-last.ts';
import { moveTree } from './local-move.ts';
import type { Tree, TreeEntry } from './tree.ts';
import { attempt, explain } from './write-error.ts';

/** A block of most file systems. */
const HOLE = 4096;
const ZEROS = Buffer.alloc(HOLE);

export interface LocalWriteOptions {
  /** Give files the owner that the tree names; needs privileges. */
  readonly keepOwner: boolean;
  readonly signal: AbortSignal;
}

/**
 * Puts `tree` into the existing directory `parent`, merging with the directories that are there and replacing files whole.
 * @throws SbxError `conflict` when a directory would replace something else or the other way round; `failed` with the reason.
 */
export async function writeLocalTree(parent: string, tree: Tree, options: LocalWriteOptions): Promise<void> {
  const stage = join(parent, `.sbx-${randomBytes(8).toString('hex')}`);
  await attempt(parent, () => mkdir(stage, { mode: 0o700 }));
  // The last entry of a path wins, as with files.
  const directories = new Map<string, TreeEntry>();
  try {
    await unpack(stage, tree, directories, options);
    options.signal.throwIfAborted();
    const merged = await moveTree(stage, parent);
    for (const entry of deepestFirst(directories.values())) {
      if (entry.path !== '.' && !merged.has(entry.path))
        await finishDirectory(join(parent, entry.path), entry, options);
    }
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

async function unpack(
  stage: string,
  tree: Tree,
  directories: Map<string, TreeEntry>,
  options: LocalWriteOptions,
): Promise<void> {
  const made = new Set([stage]);
  let file: { entry: TreeEntry; path: string; handle: FileHandle; at: number } | undefined;
  const closeFile = async (): Promise<void> => {
    if (file === undefined) return;
    const { entry, path, handle, at } = file;
    file = undefined;
    try {
      if (at !== entry.size)
        throw new SbxError('failed', `'${entry.path}' arrived with ${at} of ${entry.size} bytes`);
      await attempt(entry.path, () => handle.truncate(entry.size));
      // The owner before the mode: changing it clears setuid.
      if (options.keepOwner) await attempt(entry.path, () => handle.chown(entry.uid, entry.gid));
      await attempt(entry.path, () => handle.chmod(entry.mode));
    } finally {
      await handle.close();
    }
    await utimes(path, seconds(entry), seconds(entry));
  };
  try {
    for await (const event of tree) {
      options.signal.throwIfAborted();
      if (event.kind === 'data') {
        if (file === undefined) throw new SbxError('bug', 'bytes without a file');
        await attempt(file.entry.path, () => writeAt(file?.handle as FileHandle, event.data, file?.at ?? 0));
        file.at += event.data.length;
        continue;
      }
      await closeFile();
      const { entry } = event;
      const path = join(stage, entry.path);
      if (entry.type === 'directory') {
        await makeFolders(path, made);
        directories.set(entry.path, entry);
        continue;
      }
      await makeFolders(dirname(path), made);
      if (entry.type === 'file') file = { entry, path, handle: await create(path, entry), at: 0 };
      else await makeLink(stage, path, entry, made, options);
    }
    await closeFile();
  } finally {
    await file?.handle.close();
  }
}

/** A new file; one that the same archive brought before goes away. Never follows or opens what is there. */
async function create(path: string, entry: TreeEntry): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  return attempt(entry.path, () => replacing(path, () => open(path, flags, 0o600)));
}

async function makeLink(
  stage: string,
  path: string,
  entry: TreeEntry,
  made: Set<string>,
  options: LocalWriteOptions,
): Promise<void> {
  const target = entry.target ?? '';
  if (entry.type === 'hardlink') {
    const from = join(stage, target);
    await makeFolders(dirname(from), made);
    const stat = await lstat(from).catch((cause: unknown) => {
      if (hasErrno(cause, 'ENOENT')) throw missingTarget(entry);
      throw cause;
    });
    if (stat.isDirectory()) throw missingTarget(entry);
    if (from !== path) await attempt(entry.path, () => replacing(path, () => link(from, path)));
    return;
  }
  await attempt(entry.path, () => replacing(path, () => symlink(target, path)));
  if (options.keepOwner) await attempt(entry.path, () => lchown(path, entry.uid, entry.gid));
  await lutimes(path, seconds(entry), seconds(entry));
}

/** Makes each missing folder on the way down from the stage; refuses to go through anything but a real directory. */
async function makeFolders(path: string, made: Set<string>): Promise<void> {
  if (made.has(path)) return;
  await makeFolders(dirname(path), made);
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (cause) {
    if (!hasErrno(cause, 'EEXIST')) throw explain(path, cause);
    if (!(await lstat(path)).isDirectory()) {
      throw new SbxError(
        'failed',
        `refused: the archive goes through '${path.split('/').at(-1) ?? path}', which is no directory`,
      );
    }
  }
  made.add(path);
}

async function replacing<T>(path: string, make: () => Promise<T>): Promise<T> {
  try {
    return await make();
  } catch (cause) {
    if (!hasErrno(cause, 'EEXIST')) throw cause;
    await unlink(path);
    return await make();
  }
}

async function finishDirectory(path: string, entry: TreeEntry, options: LocalWriteOptions): Promise<void> {
  if (options.keepOwner) await attempt(entry.path, () => lchown(path, entry.uid, entry.gid));
  await utimes(path, seconds(entry), seconds(entry));
  await chmod(path, entry.mode);
}

/** Writes all of `data` at `start` of a new file, leaving a hole where a whole block of the file is zeros. */
async function writeAt(handle: FileHandle, data: Uint8Array, start: number): Promise<void> {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const endOfBlock = (at: number): number => Math.min(bytes.length, at + HOLE - ((start + at) % HOLE));
  for (let at = 0; at < bytes.length; ) {
    let end = at;
    while (end < bytes.length && !isZero(bytes, end, endOfBlock(end))) end = endOfBlock(end);
    for (let done = at; done < end; ) {
      done += (await handle.write(bytes, done, end - done, start + done)).bytesWritten;
    }
    at = end < bytes.length ? endOfBlock(end) : end;
  }
}

function isZero(bytes: Buffer, from: number, to: number): boolean {
  return bytes.compare(ZEROS, 0, to - from, from, to) === 0;
}

function seconds(entry: TreeEntry): number {
  return entry.mtimeMs / 1000;
}

function missingTarget(entry: TreeEntry): SbxError {
  return new SbxError(
    'failed',
    `refused: '${entry.path}' is a hard link to '${entry.target ?? ''}', which the archive does not hold`,
  );
}
