/**
 * Real pipes for the streams of a command. Node gives children socket pairs, and a socket cannot be opened again
 * through /dev/stdout or /dev/stderr, which scripts do all the time; so these are FIFOs that lose their name at once.
 */
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { hasErrno, SbxError } from '../../errors.ts';
import { makeFifos } from '../../transport/fifo.ts';
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

/** Opens pipes of these names; `spare` is the folder of FIFOs that wait to be taken. */
export function openPipes(spare: string, names: readonly StreamName[]): Pipes {
  if (names.length === 0) return {};
  const prefix = join(spare, `.taken-${randomHex(6)}`);
  const paths = names.map((name) => `${prefix}-${name}`);
  try {
    make(paths, spare);
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

function make(paths: readonly string[], spare: string): void {
  try {
    makeFifos(paths, { spare, env: SYSTEM_ENV });
  } catch (error) {
    if (error instanceof SbxError) throw error;
    // The folder of a sandbox that was removed a moment ago stays away.
    if (hasErrno(error, 'ENOENT')) throw new SbxError('not_found', 'the sandbox was removed');
    throw new SbxError('failed', `cannot make pipes: ${(error as Error).message}`, { cause: error });
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
