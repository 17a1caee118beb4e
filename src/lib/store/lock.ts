/**
 * Locks between processes (and within one) on files. The kernel holds them, so a holder that dies in any way lets go.
 *
 *   await withLock(path, call, async () => …)             runs with the lock held
 *   using lock = await acquireLock(path, call)            held until the end of the block
 *   using lock = await tryLock(path)                      undefined when somebody else holds it
 *
 * `{ shared: true }` lets many in at once. Not re-entrant. A holder may remove the file as the last thing it does: from
 * then on a new file is the lock, and whoever waited on the old one starts over.
 */
import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from '../backend/contract.ts';
import { hasErrno, SbxError } from '../errors.ts';
import { fileError } from './file-error.ts';
import { ensureFolder } from './folder.ts';

/** A lock that is held. */
export interface FileLock extends Disposable {
  readonly path: string;
  /** Lets go; a second time is no error. */
  release(): void;
}

/** Who holds a lock, as far as the lock file says. */
export interface LockHolder {
  readonly path: string;
  readonly pid?: number | undefined;
  /** What for: the holder's `purpose`. */
  readonly purpose?: string | undefined;
}

/** One line for the user who waits. */
export function describeHolder({ path, pid, purpose }: LockHolder): string {
  const who = pid === undefined ? 'another process' : `process ${pid}`;
  return `waiting for ${who}${purpose === undefined ? '' : ` (${purpose})`}, which holds ${path}`;
}

export interface LockOptions {
  /** Many may hold it at once while nobody holds it alone. */
  readonly shared?: boolean;
  /** What the lock is held for, in a few words, told to those who wait. Must not hold a secret. */
  readonly purpose?: string;
  /** Called once when waiting takes longer than {@link LockOptions.patienceMs}. */
  readonly onWait?: (holder: LockHolder) => void;
  /** Milliseconds before `onWait`. Default: 2000. */
  readonly patienceMs?: number;
}

const FIRST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 25;

/** Runs `fn` while holding the lock on `path`; the file and its folder are made when missing. Rejects like {@link acquireLock}. */
export async function withLock<T>(
  path: string,
  call: Call,
  fn: () => Promise<T>,
  options: LockOptions = {},
): Promise<T> {
  using _lock = await acquireLock(path, call, options);
  return await fn();
}

/**
 * Waits for the lock on `path`.
 * @throws SbxError `interrupted` when the call is aborted meanwhile, `failed` when the file cannot be opened.
 */
export async function acquireLock(path: string, call: Call, options: LockOptions = {}): Promise<FileLock> {
  const started = performance.now();
  let told = options.onWait === undefined;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    if (call.signal.aborted) throw interrupted(path, call.signal.reason);
    const lock = await tryLock(path, options);
    if (lock !== undefined) return lock;
    if (!told && performance.now() - started > (options.patienceMs ?? 2000)) {
      told = true;
      options.onWait?.(holderOf(path));
    }
    // The library's own wait blocks a thread of the pool and cannot be called off, so we ask again instead.
    // The random part keeps many waiters from asking in step.
    await sleep(pause * (0.5 + Math.random()), undefined, { signal: call.signal }).catch((error: unknown) => {
      if (!call.signal.aborted) throw error;
    });
  }
}

/** The lock on `path` if it is free, else undefined. */
export async function tryLock(
  path: string,
  options: Pick<LockOptions, 'purpose' | 'shared'> = {},
): Promise<FileLock | undefined> {
  const { purpose, shared = false } = options;
  const { default: native } = await import('fs-native-extensions');
  for (;;) {
    const fd = open(path);
    try {
      if (!native.tryLock(fd, 0, 0, { shared })) {
        fs.closeSync(fd);
        return undefined;
      }
      // A former holder may have removed the file between our open and our lock: then ours guards nothing.
      if (isStillAt(path, fd)) {
        if (!shared) sign(fd, purpose);
        return held(path, fd);
      }
    } catch (error) {
      fs.closeSync(fd);
      throw fileError('cannot lock', path, error);
    }
    fs.closeSync(fd);
  }
}

function held(path: string, fd: number): FileLock {
  let open = true;
  const release = () => {
    if (!open) return;
    open = false;
    fs.closeSync(fd);
  };
  return { path, release, [Symbol.dispose]: release };
}

function open(path: string): number {
  const flags =
    fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_NONBLOCK | fs.constants.O_NOFOLLOW;
  try {
    return fs.openSync(path, flags, 0o600);
  } catch (error) {
    if (!hasErrno(error, 'ENOENT')) throw fileError('cannot lock', path, error);
  }
  ensureFolder(dirname(path));
  try {
    return fs.openSync(path, flags, 0o600);
  } catch (error) {
    throw fileError('cannot lock', path, error);
  }
}

function isStillAt(path: string, fd: number): boolean {
  const there = fs.statSync(path, { throwIfNoEntry: false });
  const ours = fs.fstatSync(fd);
  return there !== undefined && there.ino === ours.ino && there.dev === ours.dev;
}

/** Leaves word of who we are. Only a courtesy: a full disk must not keep anybody from removing things. */
function sign(fd: number, purpose: string | undefined): void {
  try {
    fs.ftruncateSync(fd, 0);
    fs.writeSync(fd, JSON.stringify({ pid: process.pid, purpose }), 0);
  } catch (error) {
    if (!hasErrno(error, 'ENOSPC', 'EDQUOT')) throw error;
  }
}

/** Reads what the holder wrote; it may be half-written, old or absent. */
function holderOf(path: string): LockHolder {
  let text: string;
  try {
    text = fs.readFileSync(path, 'utf8');
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'EACCES')) return { path };
    throw fileError('cannot read', path, error);
  }
  const pid = /"pid":(\d{1,10})\b/.exec(text)?.[1];
  const purpose = /"purpose":"([\w .:/-]{1,100})"/.exec(text)?.[1];
  return { path, pid: pid === undefined ? undefined : Number(pid), purpose };
}

function interrupted(path: string, cause: unknown): SbxError {
  return new SbxError('interrupted', `interrupted while waiting for the lock ${path}`, { cause });
}
