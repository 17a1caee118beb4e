/**
 * Real pipes for the streams of a command. Node gives children socket pairs, and a socket cannot be opened again
 * through /dev/stdout or /dev/stderr, which scripts do all the time; so these are FIFOs that lose their name at once.
 *
 * Node cannot make a FIFO, and starting `mkfifo` takes longer than all the rest of the way in. So it makes some to
 * spare, which lie in a folder until a command takes them out. None is used twice: what a command left behind could
 * still write to it.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { hasErrno, SbxError } from '../../errors.ts';
import { randomHex } from '../../util/random-id.ts';
import { SYSTEM_ENV } from './system.ts';

/** Both ends of a pipe: ours as a stream, the command's as a descriptor to be closed once the command has it. */
export interface Pipe<Stream> {
  readonly stream: Stream;
  readonly theirs: number;
}

export interface Pipes {
  readonly stdin?: Pipe<Writable>;
  readonly stdout?: Pipe<Readable>;
  readonly stderr?: Pipe<Readable>;
}

export type StreamName = keyof Pipes;

/** How many are made to spare when one is lacking, unless so many commands do it at once that there are plenty. */
const SPARE = 30;
const PLENTY = 100;

/** Opens pipes of these names; `spare` is the folder of FIFOs that wait to be taken. */
export function openPipes(spare: string, names: readonly StreamName[]): Pipes {
  if (names.length === 0) return {};
  const prefix = join(spare, `.taken-${randomHex(6)}`);
  const paths = names.map((name) => `${prefix}-${name}`);
  try {
    const taken = takeSpare(spare, paths);
    if (taken < paths.length) {
      makeFolder(spare);
      const count = readdirSync(spare).length > PLENTY ? 0 : SPARE;
      const more = Array.from({ length: count }, (_, index) => `${prefix}-spare-${index}`);
      makeFifos([...paths.slice(taken), ...more]);
      // Others take what has such a name, so it gets one when it is whole.
      for (const path of more) renameSync(path, join(spare, randomHex(6)));
    }
    const pipes: { -readonly [K in StreamName]?: Pipes[K] } = {};
    for (const [index, name] of names.entries()) {
      const path = paths[index] as string;
      if (name === 'stdin') pipes.stdin = openForWriting(path);
      else pipes[name] = openForReading(path);
    }
    return pipes as Pipes;
  } finally {
    for (const path of paths) rmSync(path, { force: true });
  }
}

/** Not with its parents: those of a sandbox that was removed a moment ago stay away. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return;
    if (hasErrno(error, 'ENOENT')) throw new SbxError('not_found', 'the sandbox was removed');
    throw new SbxError('failed', `cannot make pipes: ${(error as Error).message}`, { cause: error });
  }
}

/** Gives spare FIFOs these names, from the first on. @returns how many there were. */
function takeSpare(spare: string, paths: readonly string[]): number {
  let taken = 0;
  try {
    for (const name of readdirSync(spare)) {
      const path = paths[taken];
      if (path === undefined) break;
      if (name.startsWith('.')) continue;
      try {
        // Two at once: a rename succeeds for one of them.
        renameSync(join(spare, name), path);
        taken++;
      } catch (error) {
        if (!hasErrno(error, 'ENOENT')) throw error;
      }
    }
  } catch (error) {
    if (!hasErrno(error, 'ENOENT')) throw error;
  }
  return taken;
}

function makeFifos(paths: readonly string[]): void {
  try {
    execFileSync('mkfifo', ['-m', '600', ...paths], { env: SYSTEM_ENV, stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (cause) {
    const { signal, stderr } = cause as { signal?: string | null; stderr?: Buffer };
    // The terminal's Ctrl-C is for all programs in front of it.
    if (typeof signal === 'string') throw new SbxError('interrupted', 'interrupted', { cause });
    throw new SbxError('failed', `cannot make pipes: ${String(stderr ?? cause).trim()}`, { cause });
  }
}

function openForReading(path: string): Pipe<Readable> {
  // Opening a FIFO waits for the other side, except for a reader that does not block.
  const ours = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const theirs = openSync(path, constants.O_WRONLY);
  return { stream: new Socket({ fd: ours, readable: true, writable: false }), theirs };
}

function openForWriting(path: string): Pipe<Writable> {
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const ours = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  // The command's end must block: O_NONBLOCK would be the command's surprise.
  const theirs = openSync(path, constants.O_RDONLY);
  closeSync(reader);
  return { stream: new Socket({ fd: ours, readable: false, writable: true }), theirs };
}
