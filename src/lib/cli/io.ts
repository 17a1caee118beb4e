/**
 * The three standard streams as commands see them. The process-backed version touches `process.stdin` and friends
 * only when it must: their getters make descriptors non-blocking, and `exec` hands those same descriptors to a child.
 */
import { fstatSync, writeSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { hasErrno, SbxError } from '../errors.ts';

/** Thrown when the reader of our stdout has gone (`| head`); ends the command quietly. */
export class OutputClosed extends Error {
  override readonly name = 'OutputClosed';
}

/** A stream to write to. */
export interface Output {
  /** The descriptor to hand to a child; undefined for streams in memory. */
  readonly fd: number | undefined;
  readonly isTTY: boolean;
  /** Width in cells: of the terminal, else `$COLUMNS`, else undefined. */
  readonly columns: number | undefined;
  /**
   * Writes all of it before it returns, however slow the reader.
   * @throws OutputClosed when nobody reads stdout any more; a stderr that nobody reads is ignored.
   */
  write(data: string | Uint8Array): void;
  /** `hook` runs before each write from now on, so that a line that replaces itself can make room. One at a time. */
  beforeWrite(hook: (() => void) | undefined): void;
  /** The stream itself, for what needs back-pressure. After this call `write` goes through it. */
  stream(): Writable;
}

/** The stream to read from. */
export interface Input {
  readonly fd: number | undefined;
  readonly isTTY: boolean;
  stream(): Readable;
  /** Nobody will read any more: an input that stays open no longer keeps the process alive. */
  release(): void;
}

/** Standard input, output and error. */
export interface Io {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
}

/** The streams of this process. */
export function processIo(): Io {
  return { stdin: new ProcessInput(), stdout: new ProcessOutput(1), stderr: new ProcessOutput(2) };
}

class ProcessInput implements Input {
  readonly fd = 0;
  #isTTY: boolean | undefined;
  #opened = false;

  get isTTY(): boolean {
    this.#isTTY ??= isTerminal(0);
    return this.#isTTY;
  }

  stream(): Readable {
    this.#opened = true;
    return process.stdin;
  }

  release(): void {
    if (this.#opened) process.stdin.destroy();
  }
}

class ProcessOutput implements Output {
  readonly fd: 1 | 2;
  #isTTY: boolean | undefined;
  #stream: Writable | undefined;
  #before: (() => void) | undefined;
  #closed = false;

  constructor(fd: 1 | 2) {
    this.fd = fd;
  }

  get isTTY(): boolean {
    this.#isTTY ??= isTerminal(this.fd);
    return this.#isTTY;
  }

  get columns(): number | undefined {
    const own = this.isTTY ? (this.fd === 1 ? process.stdout : process.stderr).columns : undefined;
    const set = Number.parseInt(process.env.COLUMNS ?? '', 10);
    return own || (set > 0 ? set : this.isTTY ? 80 : undefined);
  }

  beforeWrite(hook: (() => void) | undefined): void {
    this.#before = hook;
  }

  write(data: string | Uint8Array): void {
    this.#before?.();
    if (this.#closed) {
      this.#gone();
      return;
    }
    if (this.#stream !== undefined) {
      this.#stream.write(data);
      return;
    }
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    for (let done = 0; done < bytes.length; ) {
      try {
        done += writeSync(this.fd, bytes, done);
      } catch (error) {
        if (hasErrno(error, 'EPIPE', 'EBADF')) {
          this.#closed = true;
          this.#gone();
          return;
        }
        if (!hasErrno(error, 'EAGAIN')) {
          if (this.fd === 2) return;
          throw new SbxError('failed', `cannot write the output (${(error as Error).message})`, {
            cause: error,
          });
        }
        // Somebody else made the pipe non-blocking and it is full: wait a moment without spinning.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      }
    }
  }

  stream(): Writable {
    if (this.#stream === undefined) {
      this.#stream = this.fd === 1 ? process.stdout : process.stderr;
      this.#stream.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EPIPE') throw error;
        this.#closed = true;
      });
    }
    return this.#stream;
  }

  #gone(): void {
    if (this.fd === 1) throw new OutputClosed('stdout is closed');
  }
}

/** Linux's major number of /dev/null, /dev/zero and their like. */
const MEMORY_DEVICES = 1;

function isTerminal(fd: number): boolean {
  try {
    // Streams of scripts are pipes, files or /dev/null: one cheap call spares them loading node:tty and node:net.
    const stat = fstatSync(fd);
    if (!stat.isCharacterDevice() || (process.platform === 'linux' && stat.rdev >> 8 === MEMORY_DEVICES)) {
      return false;
    }
  } catch {
    return false;
  }
  return process.getBuiltinModule('node:tty').isatty(fd);
}
