/** Runs the file and tar programs and turns how they end into errors. */
import { Readable } from 'node:stream';
import { SbxError } from '../../errors.ts';
import common from '../../guest/file-common.sh';
import { fileError } from '../../guest/file-errors.ts';
import type { Call, Exit } from '../contract.ts';
import { type ExecSandbox, type GuestProcess, runGuest, startGuest } from './run-guest.ts';

const STDERR_LIMIT = 16 * 1024;
/** Longest first line, which says that all is well. */
const GREETING_LIMIT = 64;
/** Longest that tidying up after a failure may take. */
const TIDY_MS = 10_000;

/** A program, what it does to `path` in words, and its arguments. */
export interface FileProgram {
  readonly name: string;
  readonly script: string;
  readonly verb: string;
  readonly path: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A path as an argument that no program takes for an option. @throws SbxError `usage` for one that cannot be a path. */
export function guestPath(path: string): string {
  if (path === '' || path.includes('\0'))
    throw new SbxError('usage', `not a path: '${path.replaceAll('\0', '\\0')}'`);
  const trimmed = path.replace(/(?<=.)\/+$/, '') || '/';
  return trimmed.startsWith('-') ? `./${trimmed}` : trimmed;
}

/** Runs a program that only ends well or not. @returns what it printed. */
export async function runFileProgram(
  sandbox: ExecSandbox,
  program: FileProgram,
  call: Call,
): Promise<Buffer> {
  const script = common + program.script;
  const result = await runGuest(sandbox, program.name, script, program.args, call, { env: program.env });
  check(sandbox, program, result.exit, result.stderr);
  return result.stdout;
}

/** A program whose standard output comes after a first line that says that it could begin. */
export interface FileOutput {
  readonly greeting: string;
  /** What follows the first line. Fails when the program does not end well; ending early ends the program. */
  readonly output: AsyncGenerator<Buffer, void, void>;
}

/** Starts a program; rejects with what it found when it cannot begin. */
export async function startFileProgram(
  sandbox: ExecSandbox,
  program: FileProgram,
  call: Call,
): Promise<FileOutput> {
  const script = common + program.script;
  const running = await startGuest(sandbox, program.name, script, program.args, call, { env: program.env });
  const stderr = tail(running.stderr);
  const abort = endOnAbort(running, call);
  const finish = async (): Promise<void> => {
    const exit = await running.wait();
    abort.forget();
    call.signal.throwIfAborted();
    check(sandbox, program, exit, await stderr);
  };
  const chunks = told(running.stdout as AsyncIterable<Buffer>, finish);
  let head: Buffer = Buffer.alloc(0);
  let newline = -1;
  while (newline < 0) {
    const next = await chunks.next();
    if (next.done) {
      await finish();
      throw notUnderstood(sandbox, program);
    }
    head = Buffer.concat([head, next.value]);
    newline = head.indexOf(0x0a);
    if (newline > GREETING_LIMIT || (newline < 0 && head.length > GREETING_LIMIT)) {
      await running.terminate(0);
      throw notUnderstood(sandbox, program);
    }
  }
  return {
    greeting: head.toString('latin1', 0, newline),
    output: rest(running, head.subarray(newline + 1), chunks, finish),
  };
}

/** What comes of an output. That it breaks off says less than how its program ended. */
async function* told(output: AsyncIterable<Buffer>, finish: () => Promise<void>): AsyncGenerator<Buffer> {
  try {
    yield* output;
  } catch (cause) {
    await finish();
    throw cause;
  }
}

async function* rest(
  running: GuestProcess,
  first: Buffer,
  chunks: AsyncIterator<Buffer>,
  finish: () => Promise<void>,
): AsyncGenerator<Buffer, void, void> {
  let ended = false;
  try {
    if (first.length > 0) yield first;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
    ended = true;
    await finish();
  } finally {
    if (!ended) {
      await running.terminate(0);
      running.stdout.destroy();
    }
  }
}

/** The output as a stream; destroying it ends the program. */
export function asStream(output: AsyncGenerator<Buffer, void, void>): Readable {
  return Readable.from(output, { objectMode: false, highWaterMark: 256 * 1024 });
}

/**
 * Runs a program that reads `input` to its end. When `input` fails, the program is killed and the input's error thrown.
 * @param greets whether it says first that it can begin; nothing is taken from `input` before.
 */
export async function feedFileProgram(
  sandbox: ExecSandbox,
  program: FileProgram & { readonly greets?: boolean },
  input: AsyncIterable<Uint8Array>,
  call: Call,
): Promise<void> {
  const script = common + program.script;
  const running = await startGuest(sandbox, program.name, script, program.args, call, {
    stdin: 'pipe',
    env: program.env,
  });
  const stdin = running.stdin;
  if (stdin === undefined)
    throw new SbxError('bug', `backend '${sandbox.backend}' gave no input stream for a guest program`);
  const stderr = tail(running.stderr);
  const greeted = new Promise<void>((resolve) => running.stdout.once('data', () => resolve()));
  running.stdout.resume();
  let gone = false;
  let wake: (() => void) | undefined;
  const leave = (): void => {
    gone = true;
    wake?.();
  };
  // A new promise for each wait: one that lives as long as the copy would keep a reaction for every chunk.
  const left = (): Promise<'left'> =>
    new Promise((resolve) => {
      wake = () => resolve('left');
      if (gone) wake();
    });
  // The program may end first and close its input: its exit code says why.
  stdin.on('close', leave);
  stdin.on('error', leave);
  const abort = endOnAbort(running, call, leave);
  const ended = running.wait();
  ended.then(leave, leave);
  const chunks = input[Symbol.asyncIterator]();
  let complete = false;
  try {
    if (program.greets === true) await Promise.race([greeted, left()]);
    while (!gone) {
      const pending = chunks.next();
      const next = await Promise.race([pending, left()]);
      if (next === 'left') {
        // The input is the caller's to destroy; what it says then comes too late to matter.
        pending.catch(() => undefined);
        break;
      }
      if (next.done) {
        complete = true;
        break;
      }
      if (!stdin.write(next.value)) await Promise.race([drained(stdin), left()]);
    }
  } catch (cause) {
    await running.terminate(0);
    await ended;
    abort.forget();
    throw cause;
  }
  if (complete) stdin.end();
  const exit = await ended;
  abort.forget();
  call.signal.throwIfAborted();
  check(sandbox, program, exit, await stderr);
  if (!complete) throw notUnderstood(sandbox, program);
}

/** Kills the program when the call is aborted. */
function endOnAbort(running: GuestProcess, call: Call, then?: () => void): { forget(): void } {
  const onAbort = (): void => {
    // A backend that cannot even kill lets wait() fail, which is where the error belongs.
    running.terminate(0).then(then, then);
  };
  call.signal.addEventListener('abort', onAbort, { once: true });
  if (call.signal.aborted) onAbort();
  return { forget: () => call.signal.removeEventListener('abort', onAbort) };
}

/** Tidies up after `cause` and throws it. When that fails too, the message says what may be left behind. */
export async function tidyUp(
  cause: unknown,
  what: string,
  tidy: (call: Call) => Promise<unknown>,
): Promise<never> {
  try {
    await tidy({ signal: AbortSignal.timeout(TIDY_MS) });
  } catch (second) {
    // A sandbox or directory that is gone holds nothing.
    if (cause instanceof SbxError && !(second instanceof SbxError && second.code === 'not_found')) {
      const { code, message, hint, retryable, backend } = cause;
      throw new SbxError(code, `${message}; '${what}' may be left behind`, {
        cause,
        hint,
        retryable,
        backend,
      });
    }
  }
  throw cause;
}

function drained(stream: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => stream.once('drain', () => resolve()));
}

function tail(stream: Readable): Promise<string> {
  const text = lastOf(stream);
  // Nobody asks for it when the program could not even start, which breaks its streams too; that is no crash.
  text.catch(() => undefined);
  return text;
}

async function lastOf(stream: Readable): Promise<string> {
  let text = Buffer.alloc(0);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    text = Buffer.concat([text, chunk]).subarray(-STDERR_LIMIT);
  }
  return text.toString('utf8');
}

function check(sandbox: ExecSandbox, program: FileProgram, exit: Exit, stderr: string): void {
  if ('code' in exit && exit.code === 0) return;
  throw fileError({
    sandbox: sandbox.name,
    path: program.path,
    verb: program.verb,
    code: 'code' in exit ? exit.code : undefined,
    signal: 'signal' in exit ? exit.signal : undefined,
    stderr,
  });
}

function notUnderstood(sandbox: ExecSandbox, program: FileProgram): SbxError {
  return new SbxError(
    'failed',
    `cannot ${program.verb} '${program.path}': sandbox '${sandbox.name}' gave an answer that makes no sense`,
  );
}
