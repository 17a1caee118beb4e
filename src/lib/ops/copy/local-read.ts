/** A file or folder of this machine as a tree. */
import { isUtf8 } from 'node:buffer';
import { type BigIntStats, constants } from 'node:fs';
import { lstat, open, readdir, readlink, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno, SbxError } from '../../errors.ts';
import type { Selection } from './select.ts';
import type { Tree, TreeEntry } from './tree.ts';

const READ_SIZE = 256 * 1024;

export interface LocalReadOptions {
  /** What the entry is called in the tree; `.`: its contents only. */
  readonly name: string;
  /** Follow the symlink that `path` itself is. */
  readonly follow: boolean;
  readonly selection: Selection;
  readonly signal: AbortSignal;
}

/**
 * The tree at `path`, directories first. Further names of a file are hard links. Fails with `not_found` when `path` is missing, `failed` for what cannot be read or sent.
 */
export async function* readLocalTree(path: string, options: LocalReadOptions): Tree {
  const start = options.follow ? await follow(path) : path;
  yield* walk(start, options.name, '', new Map(), options);
}

async function* walk(
  path: string,
  name: string,
  below: string,
  seen: Map<string, string>,
  options: LocalReadOptions,
): Tree {
  options.signal.throwIfAborted();
  const stat = await statOf(path);
  if (below !== '' && options.selection.leavesOut(below, stat.isDirectory())) return;
  if (stat.isDirectory()) {
    yield { kind: 'entry', entry: { ...common(name, stat), type: 'directory' } };
    await options.selection.enter?.(path, below);
    for (const child of await names(path)) {
      const childName = name === '.' ? child : `${name}/${child}`;
      yield* walk(join(path, child), childName, below === '' ? child : `${below}/${child}`, seen, options);
    }
  } else if (stat.isSymbolicLink()) {
    const target = await attempt(path, () => readlink(path, { encoding: 'buffer' }));
    yield { kind: 'entry', entry: { ...common(name, stat), type: 'symlink', target: utf8(target, path) } };
  } else if (stat.isFile()) {
    const id = `${stat.dev}:${stat.ino}`;
    const other = stat.nlink > 1n ? seen.get(id) : undefined;
    if (other !== undefined) {
      yield { kind: 'entry', entry: { ...common(name, stat), type: 'hardlink', target: other } };
      return;
    }
    if (stat.nlink > 1n) seen.set(id, name);
    yield* file(path, name, options.signal);
  } else {
    throw new SbxError('failed', `cannot copy '${path}': it is ${kindOf(stat)}`, {
      hint: `leave it out: --exclude '${path.split('/').at(-1) ?? ''}'`,
    });
  }
}

async function* file(path: string, name: string, signal: AbortSignal): Tree {
  // Not a symlink or fifo that took the file's place since it was looked at.
  await using handle = await attempt(path, () =>
    open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK),
  );
  const stat = await handle.stat({ bigint: true });
  if (!stat.isFile()) throw changed(path);
  const entry: TreeEntry = { ...common(name, stat), type: 'file', size: Number(stat.size) };
  yield { kind: 'entry', entry };
  for (let left = entry.size; left > 0; ) {
    signal.throwIfAborted();
    const buffer = Buffer.allocUnsafeSlow(Math.min(READ_SIZE, left));
    const { bytesRead } = await attempt(path, () => handle.read(buffer, 0, buffer.length));
    if (bytesRead === 0) throw changed(path);
    left -= bytesRead;
    yield { kind: 'data', data: buffer.subarray(0, bytesRead) };
  }
}

function common(path: string, stat: BigIntStats): Omit<TreeEntry, 'type'> {
  return {
    path,
    mode: Number(stat.mode) & 0o7777,
    uid: Number(stat.uid),
    gid: Number(stat.gid),
    size: 0,
    // Microseconds: what a double holds exactly enough.
    mtimeMs: Number(stat.mtimeNs / 1000n) / 1000,
  };
}

async function names(path: string): Promise<string[]> {
  const found = await attempt(path, () => readdir(path, { encoding: 'buffer' }));
  return found.map((name) => utf8(name, path)).sort((a, b) => (a < b ? -1 : 1));
}

function utf8(bytes: Buffer, path: string): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw new SbxError(
    'failed',
    `cannot copy '${path}': a name in it is not UTF-8 (${JSON.stringify(bytes.toString('latin1'))})`,
  );
}

async function statOf(path: string): Promise<BigIntStats> {
  return attempt(path, () => lstat(path, { bigint: true }));
}

async function follow(path: string): Promise<string> {
  return attempt(path, () => realpath(path));
}

/** Runs one system call and says in words why it failed. */
async function attempt<T>(path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (hasErrno(cause, 'ENOENT', 'ENOTDIR'))
      throw new SbxError('not_found', `no such file or directory: '${path}'`, { cause });
    if (hasErrno(cause, 'EACCES', 'EPERM'))
      throw new SbxError('failed', `cannot read '${path}': permission denied`, { cause });
    if (hasErrno(cause, 'ELOOP')) throw changed(path);
    if (cause instanceof Error && 'code' in cause) {
      throw new SbxError('failed', `cannot read '${path}': ${cause.message}`, { cause });
    }
    throw cause;
  }
}

function changed(path: string): SbxError {
  return new SbxError('failed', `'${path}' changed while it was read`, {
    hint: 'copy again',
    retryable: true,
  });
}

function kindOf(stat: BigIntStats): string {
  if (stat.isFIFO()) return 'a fifo';
  if (stat.isSocket()) return 'a socket';
  return stat.isBlockDevice() ? 'a block device' : 'a character device';
}
