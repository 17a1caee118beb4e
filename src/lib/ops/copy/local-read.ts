/**
 * A file or folder of this machine as a tree, by synchronous calls: handing one to another thread takes longer than the call,
 * and the kernel reads ahead by itself.
 */
import { isUtf8 } from 'node:buffer';
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasErrno, SbxError } from '../../errors.ts';
import type { Selection } from './select.ts';
import type { Tree, TreeEntry } from './tree.ts';

/** Bytes that are read at once: what a pipe takes. */
const READ_SIZE = 64 * 1024;

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
  const start = options.follow ? attempt(path, () => realpathSync(path)) : path;
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
  const stat = attempt(path, () => lstatSync(path, { bigint: true }));
  if (below !== '' && options.selection.leavesOut(below, stat.isDirectory())) return;
  if (stat.isDirectory()) {
    yield { kind: 'entry', entry: { ...common(name, stat), type: 'directory' } };
    await options.selection.enter?.(path, below);
    for (const child of names(path)) {
      const childName = name === '.' ? child : `${name}/${child}`;
      yield* walk(join(path, child), childName, below === '' ? child : `${below}/${child}`, seen, options);
    }
  } else if (stat.isSymbolicLink()) {
    const target = attempt(path, () => readlinkSync(path, { encoding: 'buffer' }));
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
  const fd = attempt(path, () =>
    openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK),
  );
  try {
    const stat = fstatSync(fd, { bigint: true });
    if (!stat.isFile()) throw changed(path);
    const entry: TreeEntry = { ...common(name, stat), type: 'file', size: Number(stat.size) };
    yield { kind: 'entry', entry };
    for (let at = 0; at < entry.size; ) {
      signal.throwIfAborted();
      const buffer = Buffer.allocUnsafeSlow(Math.min(READ_SIZE, entry.size - at));
      const count = attempt(path, () => readSync(fd, buffer));
      if (count === 0) throw changed(path);
      at += count;
      yield { kind: 'data', data: buffer.subarray(0, count) };
    }
  } finally {
    closeSync(fd);
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

function names(path: string): string[] {
  const found = attempt(path, () => readdirSync(path, { encoding: 'buffer' }));
  return found.map((name) => utf8(name, path)).sort((a, b) => (a < b ? -1 : 1));
}

function utf8(bytes: Buffer, path: string): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw new SbxError(
    'failed',
    `cannot copy '${path}': a name in it is not UTF-8 (${JSON.stringify(bytes.toString('latin1'))})`,
  );
}

/** Runs one system call and says in words why it failed. */
function attempt<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (cause) {
    throw explain(path, cause);
  }
}

/** A system error in words; anything else as it is. */
function explain(path: string, cause: unknown): unknown {
  if (hasErrno(cause, 'ENOENT', 'ENOTDIR'))
    return new SbxError('not_found', `no such file or directory: '${path}'`, { cause });
  if (hasErrno(cause, 'EACCES', 'EPERM'))
    return new SbxError('failed', `cannot read '${path}': permission denied`, { cause });
  if (hasErrno(cause, 'ELOOP')) return changed(path);
  if (cause instanceof Error && 'code' in cause)
    return new SbxError('failed', `cannot read '${path}': ${cause.message}`, { cause });
  return cause;
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
