/**
 * The outputs of an attached command: frames taken apart, the greeting of guest/exec-attached.sh taken off, and at most a
 * little in memory. Both outputs share one connection, so one that nobody reads holds the other up in the end.
 */
import { type Duplex, Readable } from 'node:stream';
import { dockerStreamParser } from '../../wire/docker-stream.ts';

/** Bytes of one output that wait for their reader before the connection is not read any more. */
const WAITING_LIMIT = 1024 * 1024;
/** Longest greeting: sbx:MARK:PID; with a mark of 16 and a pid of at most 10 digits. */
const GREETING_LIMIT = 40;

export interface ExecOutput {
  readonly stdout: Readable;
  /** Absent with a terminal. */
  readonly stderr?: Readable;
  /** Resolves with the process id inside that the greeting tells; undefined when the connection ended without one. */
  readonly greeted: Promise<number | undefined>;
  /** Resolves when the connection has said all; with the error that broke it. */
  readonly ended: Promise<Error | undefined>;
  /** What came before the greeting or instead of it: the engine's own words, capped. */
  readonly stray: () => string;
  /** Bytes received. */
  readonly received: () => number;
  /** Whether bytes wait because nobody reads them. */
  readonly isHeld: () => boolean;
  /** Ends both streams, whatever may still come. */
  finish(): void;
}

export interface ExecOutputOptions {
  readonly terminal: boolean;
  /** What the greeting must hold; undefined: there is none, and all is the command's. */
  readonly mark: string | undefined;
  /** Called when a reader goes away before the end. */
  readonly onReaderGone: () => void;
}

/** Reads `connection` from now on. */
export function execOutput(connection: Duplex, options: ExecOutputOptions): ExecOutput {
  const greeting = Promise.withResolvers<number | undefined>();
  const end = Promise.withResolvers<Error | undefined>();
  let received = 0;
  let over = false;
  let stray = '';
  const streams: Readable[] = [];
  /** Those that have as much as they take. */
  const full = new Set<Readable>();
  const isHeld = () => full.size > 0;
  const output = () => {
    const stream: Readable = new Readable({
      highWaterMark: WAITING_LIMIT,
      read() {
        full.delete(stream);
        if (!isHeld()) connection.resume();
      },
      destroy(error, done) {
        full.delete(stream);
        if (!over) {
          options.onReaderGone();
          if (!isHeld()) connection.resume();
        }
        done(error);
      },
    });
    const strip = options.mark === undefined ? undefined : greetingStripper(options.mark);
    streams.push(stream);
    return {
      stream,
      take(piece: Buffer) {
        const rest = strip === undefined ? piece : strip(piece);
        if (rest === undefined) {
          stray = `${stray}${piece.toString('latin1')}`.slice(0, 2000);
          return;
        }
        if (strip?.pid !== undefined) greeting.resolve(strip.pid);
        if (rest.length === 0 || stream.destroyed || stream.push(rest)) return;
        full.add(stream);
        connection.pause();
      },
    };
  };
  const stdout = output();
  const stderr = options.terminal ? undefined : output();
  const parse = dockerStreamParser((kind, piece) => {
    const part = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    if (kind === 'stdout') stdout.take(part);
    else if (kind === 'stderr') stderr?.take(part);
    else stray = `${stray}${part.toString('latin1')}`.slice(0, 2000);
  });
  const finish = () => {
    if (over) return;
    over = true;
    for (const stream of streams) if (!stream.destroyed) stream.push(null);
    greeting.resolve(undefined);
  };
  connection.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (over) return;
    try {
      if (options.terminal) stdout.take(chunk);
      else parse(chunk);
    } catch (error) {
      connection.destroy(error as Error);
    }
  });
  connection.once('end', () => end.resolve(undefined));
  connection.once('error', (error) => end.resolve(error));
  connection.once('close', () => end.resolve(undefined));
  return {
    stdout: stdout.stream,
    ...(stderr === undefined ? {} : { stderr: stderr.stream }),
    greeted: greeting.promise,
    ended: end.promise,
    stray: () => stray,
    received: () => received,
    isHeld,
    finish,
  };
}

interface Stripper {
  /** The rest of `piece` once the greeting is complete; undefined before, and when it is none. */
  (piece: Buffer): Buffer | undefined;
  pid?: number;
}

function greetingStripper(mark: string): Stripper {
  const wanted = Buffer.from(`sbx:${mark}:`, 'latin1');
  let held = Buffer.alloc(0);
  let failed = false;
  const strip: Stripper = (piece) => {
    if (strip.pid !== undefined) return piece;
    if (failed) return undefined;
    held = Buffer.concat([held, piece]);
    const close = held.indexOf(0x3b);
    const start = held.subarray(0, wanted.length);
    failed = !start.equals(wanted.subarray(0, start.length)) || (close < 0 && held.length > GREETING_LIMIT);
    if (failed || close < 0) return undefined;
    const digits = held.toString('latin1', wanted.length, close);
    failed = !/^\d{1,10}$/.test(digits);
    if (failed) return undefined;
    strip.pid = Number(digits);
    return held.subarray(close + 1);
  };
  return strip;
}
