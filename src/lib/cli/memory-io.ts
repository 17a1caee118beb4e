/** Standard streams in memory, for tests: same behaviour, nothing of the process touched. */
import { PassThrough, Readable, Writable } from 'node:stream';
import { type Input, type Io, type Output, OutputClosed } from './io.ts';

/** How a stream in memory looks from inside. */
export interface MemoryIoOptions {
  /** What the command reads; a list arrives in separate chunks. */
  readonly stdin?: string | Uint8Array | readonly (string | Uint8Array)[];
  /** Which of the streams are terminals; true: all. */
  readonly tty?: boolean | { readonly stdin?: boolean; readonly stdout?: boolean; readonly stderr?: boolean };
  /** Width of the terminal, or what `$COLUMNS` would say. */
  readonly columns?: number;
}

/** An {@link Io} whose output can be read back. */
export interface MemoryIo extends Io {
  readonly stdin: Input;
  readonly stdout: MemoryOutput;
  readonly stderr: MemoryOutput;
}

/** Streams in memory. */
export function memoryIo(options: MemoryIoOptions = {}): MemoryIo {
  const tty = typeof options.tty === 'object' ? options.tty : undefined;
  const all = options.tty === true;
  const given = options.stdin ?? [];
  const chunks = typeof given === 'string' || given instanceof Uint8Array ? [given] : given;
  let input: Readable | undefined;
  return {
    stdin: {
      fd: undefined,
      isTTY: tty?.stdin ?? all,
      stream() {
        input ??= Readable.from(
          chunks.map((chunk) => Buffer.from(chunk)),
          { objectMode: false },
        );
        return input;
      },
      release() {
        input?.destroy();
      },
    },
    stdout: new MemoryOutput(tty?.stdout ?? all, options.columns, 'throw'),
    stderr: new MemoryOutput(tty?.stderr ?? all, options.columns, 'ignore'),
  };
}

/** An {@link Output} that keeps what it is given. */
export class MemoryOutput implements Output {
  readonly fd = undefined;
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly #whenClosed: 'throw' | 'ignore';
  readonly #chunks: Buffer[] = [];
  #before: (() => void) | undefined;
  #closed = false;

  constructor(isTTY: boolean, columns: number | undefined, whenClosed: 'throw' | 'ignore') {
    this.isTTY = isTTY;
    this.columns = columns ?? (isTTY ? 80 : undefined);
    this.#whenClosed = whenClosed;
  }

  /** Everything written so far. */
  get bytes(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  /** Everything written so far, as UTF-8. */
  get text(): string {
    return this.bytes.toString();
  }

  /** From now on behave as if the reader had gone. */
  close(): void {
    this.#closed = true;
  }

  beforeWrite(hook: (() => void) | undefined): void {
    this.#before = hook;
  }

  write(data: string | Uint8Array): void {
    this.#before?.();
    if (!this.#closed) this.#chunks.push(Buffer.from(data));
    else if (this.#whenClosed === 'throw') throw new OutputClosed('stdout is closed');
  }

  stream(): Writable {
    return new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.#chunks.push(Buffer.from(chunk));
        done();
      },
    });
  }
}

/** A terminal's input that the test types into; end it to send end-of-file. */
export function typedInput(): Input & { readonly keys: PassThrough } {
  const keys = new PassThrough();
  return { fd: undefined, isTTY: true, keys, stream: () => keys, release: () => void keys.destroy() };
}
