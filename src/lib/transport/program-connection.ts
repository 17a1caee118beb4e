/** A program's standard input and output as a connection, as in `ssh HOST docker system dial-stdio`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { Duplex } from 'node:stream';

/** Most characters of a program's complaint that are kept. */
const COMPLAINT_LIMIT = 2000;

/** The program could not be run, or ended with a failure before the connection was over. */
export class ProgramFailed extends Error {
  readonly code = 'EPROGRAM';
  /** Undefined when it could not be run, or a signal ended it. */
  readonly exitCode: number | undefined;

  constructor(message: string, exitCode?: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Starts `argv` with the environment `env`. Destroying the connection ends the program. What it says on its standard error
 * becomes the message of the {@link ProgramFailed} that the connection fails with.
 */
export function connectProgram(argv: readonly [string, ...string[]], env: NodeJS.ProcessEnv): Duplex {
  const [file, ...args] = argv;
  // A group of its own: the terminal's Ctrl-C is the caller's to hear.
  const child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  return new ProgramConnection(child, file);
}

class ProgramConnection extends Duplex {
  readonly #child: ChildProcess;
  #complaint = '';

  constructor(child: ChildProcess, name: string) {
    super({ allowHalfOpen: true });
    this.#child = child;
    const { stdout, stderr, stdin } = child;
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#complaint = `${this.#complaint}${text}`.slice(-COMPLAINT_LIMIT);
    });
    stdout?.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) stdout.pause();
    });
    // The program's end tells more than a pipe that broke.
    stdin?.on('error', () => undefined);
    child.once('error', (cause) => this.destroy(new ProgramFailed(`cannot run ${name}: ${cause.message}`)));
    child.once('close', (code, signal) => {
      if (code === 0 || this.destroyed) {
        this.push(null);
        return;
      }
      const said = this.#complaint.replaceAll('\r\n', '\n').trim();
      const why = said || (signal === null ? `exit code ${code}` : `signal ${signal}`);
      const message = why.startsWith(`${name}: `) ? why : `${name}: ${why}`;
      this.destroy(new ProgramFailed(message, code ?? undefined));
    });
  }

  override _read(): void {
    this.#child.stdout?.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#child.stdin?.write(chunk, (error) => {
      // Its end, which follows, says why.
      if (error) this.#child.once('close', () => done(error));
      else done();
    });
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#child.stdin?.end(() => done());
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#child.kill();
    done(error);
  }

  ref(): this {
    this.#child.ref();
    for (const pipe of this.#pipes()) pipe.ref();
    return this;
  }

  /** An idle program does not keep this process alive; it ends when its input does. */
  unref(): this {
    this.#child.unref();
    for (const pipe of this.#pipes()) pipe.unref();
    return this;
  }

  #pipes(): { ref(): unknown; unref(): unknown }[] {
    return this.#child.stdio.filter(
      (pipe) => pipe !== null && pipe !== undefined && 'unref' in pipe,
    ) as never[];
  }
}
