/**
 * Small JSON files that hold configuration and state. A file that is broken, empty, too big, of another kind or of
 * another owner is reported with its path and never overwritten; a write leaves the old file or the whole new one.
 *
 *   readJsonFile(path, validate)          → T, or undefined when there is no file
 *   writeJsonFile(path, value, options?)  → replaces the file (temporary file, fsync, rename; 0600 in folders of 0700)
 *   updateJsonFile(path, call, validate, change) → lock, read, change, write: two processes at once lose nothing
 *
 * Synchronous: the files are tiny, and the fast verbs read them before anything else can happen.
 */
import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Call } from '../backend/contract.ts';
import { hasErrno, SbxError } from '../errors.ts';
import { fileError } from './file-error.ts';
import { ensureFolder } from './folder.ts';

/** Checks what a file holds. Throws an `Error` whose message says what is wrong; it must not quote values, which may be secrets. */
export type Validate<T> = (value: unknown) => T;

/** Most bytes that a file may have. */
const SIZE_LIMIT = 4 * 1024 * 1024;

/**
 * What the file holds, or undefined when there is none.
 * @throws SbxError `failed`, naming the path, for a file that cannot be read or is not what `validate` wants.
 */
export function readJsonFile<T>(path: string, validate: Validate<T>): T | undefined {
  const text = readOwnFile(path);
  if (text === undefined) return undefined;
  if (text.trim() === '') throw broken(path, 'it is empty');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // Neither the parser's message nor the error itself goes on: both quote the file, which may hold secrets.
    throw broken(path, `it is not valid JSON${place(text, error)}`);
  }
  try {
    return validate(value);
  } catch (error) {
    if (error instanceof SbxError) throw error;
    throw broken(path, (error as Error).message);
  }
}

export interface WriteOptions {
  /** Wait until it is on the disk. Default: true; false for what may be lost when the machine loses power. */
  readonly durable?: boolean;
  /** Permission bits. Default: 0600. */
  readonly mode?: number;
}

/**
 * Replaces the file by `value`. A symbolic link stays and its target is replaced.
 * @throws SbxError `failed`, naming the path; the old file is then as it was and no temporary file is left.
 */
export function writeJsonFile(path: string, value: unknown, options: WriteOptions = {}): void {
  writeOwnFile(path, `${JSON.stringify(value, null, 2)}\n`, options);
}

/** {@link writeJsonFile} for any text. */
export function writeOwnFile(path: string, text: string, options: WriteOptions = {}): void {
  const { durable = true, mode = 0o600 } = options;
  let temporary: string | undefined;
  try {
    const target = writableTarget(path);
    const folder = dirname(target);
    temporary = join(
      folder,
      `${temporaryPrefix(target)}${process.pid}-${Math.random().toString(36).slice(2)}.tmp`,
    );
    const fd = fs.openSync(temporary, 'wx', mode);
    try {
      fs.writeFileSync(fd, text);
      if (durable) fs.fsyncSync(fd);
    } finally {
      fs.closeSync(fd);
    }
    fs.renameSync(temporary, target);
    temporary = undefined;
    if (durable) syncFolder(folder);
  } catch (error) {
    if (temporary !== undefined) fs.rmSync(temporary, { force: true });
    throw fileError('cannot write', path, error);
  }
}

/**
 * Reads, changes and writes the file under the lock `PATH.lock`, so that nothing another process wrote is lost.
 * `change` gets what is there (undefined: no file) and returns what shall be; undefined leaves the file alone.
 * @returns what the file holds afterwards.
 */
export async function updateJsonFile<T>(
  path: string,
  call: Call,
  validate: Validate<T>,
  change: (present: T | undefined) => T | undefined,
): Promise<T | undefined> {
  const { withLock } = await import('./lock.ts');
  return withLock(`${path}.lock`, call, async () => {
    removeLeftovers(path);
    const present = readJsonFile(path, validate);
    const next = change(present);
    if (next === undefined) return present;
    writeJsonFile(path, next);
    return next;
  });
}

/** Removes temporary files that a killed writer left. Only for the holder of the file's lock. */
export function removeLeftovers(path: string): void {
  const target = followLinks(path);
  const prefix = temporaryPrefix(target);
  let names: string[];
  try {
    names = fs.readdirSync(dirname(target));
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return;
    throw fileError('cannot read', dirname(target), error);
  }
  for (const name of names) {
    if (name.startsWith(prefix) && name.endsWith('.tmp'))
      fs.rmSync(join(dirname(target), name), { force: true, recursive: true });
  }
}

function readOwnFile(path: string): string | undefined {
  try {
    const stat = fs.statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    // A named pipe in this place would hold us up.
    if (!stat.isFile()) throw broken(path, 'it is not a regular file');
    if (stat.size > SIZE_LIMIT) throw broken(path, `it has more than ${SIZE_LIMIT} bytes`);
    refuseForeign(path, stat);
    return fs.readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    // It was there a moment ago.
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw fileError('cannot read', path, error);
  }
}

/** Somebody else's file could make us run their settings, so only our own and root's are taken. */
function refuseForeign(path: string, stat: fs.Stats): void {
  const own = process.geteuid?.();
  if (own === undefined || stat.uid === own || stat.uid === 0) return;
  throw new SbxError('failed', `cannot use ${path}: it belongs to user ${stat.uid}, not to user ${own}`, {
    hint: 'run sbx as that user, or choose another folder with SBX_CONFIG_DIR or SBX_STATE_DIR',
  });
}

/** The file that a write to `path` has to replace: links followed, its folder made. @throws SbxError when it must not be replaced. */
export function writableTarget(path: string): string {
  const target = followLinks(path);
  refuseReadOnly(target);
  ensureFolder(dirname(target));
  return target;
}

/** The beginning of the names of temporary files and folders beside `target`; they end in `.tmp`. */
export function temporaryPrefix(target: string): string {
  return `.${basename(target)}.`;
}

/** A rename would replace a read-only file without asking; root may write anything, so the mode is what counts. */
function refuseReadOnly(target: string): void {
  const stat = fs.statSync(target, { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isFile()) throw new SbxError('failed', `cannot write ${target}: it is not a regular file`);
  refuseForeign(target, stat);
  if ((stat.mode & 0o200) === 0) {
    throw new SbxError('failed', `cannot write ${target}: it is read-only`, { hint: `chmod u+w ${target}` });
  }
}

/** The path that a chain of symbolic links ends at, also when nothing is there yet. */
function followLinks(path: string): string {
  let target = path;
  for (let hops = 0; hops < 40; hops++) {
    const stat = fs.lstatSync(target, { throwIfNoEntry: false });
    if (stat === undefined || !stat.isSymbolicLink()) return target;
    target = resolve(dirname(target), fs.readlinkSync(target));
  }
  throw new SbxError('failed', `cannot write ${path}: too many symbolic links`);
}

/** Waits until the names in a folder are on the disk. */
export function syncFolder(folder: string): void {
  const fd = fs.openSync(folder, 'r');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function broken(path: string, reason: string): SbxError {
  return new SbxError('failed', `cannot use ${path}: ${reason}`, {
    hint: `repair it, or move it away: mv ${path} ${path}.broken`,
  });
}

/** ` (line 3, column 5)` where the parser said the position, ` (it is cut off)` where the end came too early. */
function place(text: string, error: unknown): string {
  if (/^SyntaxError: (Unexpected end|Unterminated)/.test(String(error))) return ' (it is cut off)';
  const position = /position (\d+)/.exec(String(error))?.[1];
  if (position === undefined) return '';
  const before = text.slice(0, Number(position)).split('\n');
  return ` (line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1})`;
}
