/**
 * Writes a tree to this machine. Everything goes to a folder beside its place first and moves when the tree is complete:
 * until then the destination is as it was, and no final name ever holds half a file. The calls are synchronous but for the
 * bytes of large files: with many small ones, handing each call to another thread takes longer than the call.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  ftruncateSync,
  futimesSync,
  lchownSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasErrno, SbxError } from '../../errors.ts';
import { randomHex } from '../../util/random-id.ts';
import { deepestFirst } from './directories-last.ts';
import { type FileWriter, fileWriter } from './file-write.ts';
import { moveTree } from './local-move.ts';
import type { Tree, TreeEntry } from './tree.ts';
import { attempt, explain, explained } from './write-error.ts';

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
  const stage = join(parent, `.sbx-${randomHex(8)}`);
  attempt(parent, () => mkdirSync(stage, { mode: 0o700 }));
  // The last entry of a path wins, as with files.
  const directories = new Map<string, TreeEntry>();
  try {
    await unpack(stage, tree, directories, options);
    options.signal.throwIfAborted();
    const merged = await moveTree(stage, parent);
    for (const entry of deepestFirst(directories.values())) {
      if (entry.path !== '.' && !merged.has(entry.path))
        finishDirectory(join(parent, entry.path), entry, options);
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
  let file: OpenFile | undefined;
  const closeFile = async (): Promise<void> => {
    if (file === undefined) return;
    const { entry, fd, at, writer } = file;
    file = undefined;
    try {
      await explained(entry.path, writer.end());
      if (at !== entry.size)
        throw new SbxError('failed', `'${entry.path}' arrived with ${at} of ${entry.size} bytes`);
      attempt(entry.path, () => finishFile(fd, entry, options));
    } finally {
      closeSync(fd);
    }
  };
  try {
    for await (const event of tree) {
      options.signal.throwIfAborted();
      if (event.kind === 'data') {
        if (file === undefined) throw new SbxError('bug', 'bytes without a file');
        const { entry, writer } = file;
        const taken = attempt(entry.path, () => writer.write(event.data));
        if (taken !== undefined) await explained(entry.path, taken);
        file.at += event.data.length;
        continue;
      }
      await closeFile();
      const { entry } = event;
      const path = join(stage, entry.path);
      if (entry.type === 'directory') {
        makeFolders(path, made);
        directories.set(entry.path, entry);
        continue;
      }
      makeFolders(dirname(path), made);
      if (entry.type === 'file') {
        const fd = create(path, entry);
        file = { entry, fd, at: 0, writer: fileWriter(fd, entry.size) };
      } else makeLink(stage, path, entry, made, options);
    }
    await closeFile();
  } finally {
    if (file !== undefined) {
      // Why it broke off is known already.
      await file.writer.end().catch(() => undefined);
      closeSync(file.fd);
    }
  }
}

/** The file that is arriving. */
interface OpenFile {
  readonly entry: TreeEntry;
  readonly fd: number;
  readonly writer: FileWriter;
  /** Bytes that have come. */
  at: number;
}

/** A new file; one that the same archive brought before goes away. Never follows or opens what is there. */
function create(path: string, entry: TreeEntry): number {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  return attempt(entry.path, () => replacing(path, () => openSync(path, flags, 0o600)));
}

/** Size, owner, mode and time of a file whose bytes are there. */
function finishFile(fd: number, entry: TreeEntry, options: LocalWriteOptions): void {
  // Of holes at the end.
  ftruncateSync(fd, entry.size);
  // The owner before the mode: changing it clears setuid.
  if (options.keepOwner) fchownSync(fd, entry.uid, entry.gid);
  fchmodSync(fd, entry.mode);
  futimesSync(fd, seconds(entry), seconds(entry));
}

function makeLink(
  stage: string,
  path: string,
  entry: TreeEntry,
  made: Set<string>,
  options: LocalWriteOptions,
): void {
  const target = entry.target ?? '';
  if (entry.type === 'hardlink') {
    const from = join(stage, target);
    makeFolders(dirname(from), made);
    const stat = lstatSync(from, { throwIfNoEntry: false });
    if (stat === undefined || stat.isDirectory()) throw missingTarget(entry);
    if (from !== path) attempt(entry.path, () => replacing(path, () => linkSync(from, path)));
    return;
  }
  attempt(entry.path, () => replacing(path, () => symlinkSync(target, path)));
  if (options.keepOwner) attempt(entry.path, () => lchownSync(path, entry.uid, entry.gid));
  lutimesSync(path, seconds(entry), seconds(entry));
}

/** Makes each missing folder on the way down from the stage; refuses to go through anything but a real directory. */
function makeFolders(path: string, made: Set<string>): void {
  if (made.has(path)) return;
  makeFolders(dirname(path), made);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (cause) {
    if (!hasErrno(cause, 'EEXIST')) throw explain(path, cause);
    if (!lstatSync(path).isDirectory()) {
      throw new SbxError(
        'failed',
        `refused: the archive goes through '${path.split('/').at(-1) ?? path}', which is no directory`,
      );
    }
  }
  made.add(path);
}

function replacing<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (cause) {
    if (!hasErrno(cause, 'EEXIST')) throw cause;
    unlinkSync(path);
    return make();
  }
}

function finishDirectory(path: string, entry: TreeEntry, options: LocalWriteOptions): void {
  if (options.keepOwner) attempt(entry.path, () => lchownSync(path, entry.uid, entry.gid));
  utimesSync(path, seconds(entry), seconds(entry));
  chmodSync(path, entry.mode);
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
