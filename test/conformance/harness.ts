/** What the topics of the conformance suite work with: one backend, sandboxes that go away by themselves, commands with their output. */
import { randomInt } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type {
  Backend,
  Call,
  CreateSpec,
  ExecSpec,
  Exit,
  Running,
  Sandbox,
} from '../../src/lib/backend/contract.ts';
import type { CapabilityName, Manifest } from '../../src/lib/backend/manifest.ts';
import { hasErrno, SbxError } from '../../src/lib/errors.ts';

/** What a backend says of itself to join. */
export interface ConformanceOptions {
  readonly name: string;
  readonly manifest: Manifest;
  /** Opens the backend; called once. */
  readonly create: () => Promise<Backend>;
  /** Releases what `create` took; the sandboxes are gone by then. */
  readonly dispose?: (backend: Backend) => Promise<void>;
  /** Why this machine cannot run it; `undefined` when it can. */
  readonly unavailable?: string | undefined;
  /** Commands are processes of this machine: pipes can be handed over and processes are seen in `/proc`. */
  readonly onThisMachine?: boolean;
  /** A user that commands can run as, and its uid; without it running as others is not tested. */
  readonly otherUser?: { readonly user: string; readonly uid: number } | undefined;
  /** Titles of topics: those alone, where the others would be as for another backend. */
  readonly topics?: readonly string[];
  /** Things that the backend cannot do and that no capability tells of. */
  readonly lacks?: readonly Feature[];
  /** Milliseconds a test may take; default 20,000. */
  readonly timeout?: number;
}

/**
 * `device paths`: `/dev/stdout` and `/dev/stderr` can be opened inside. `new workdir`: one that is missing is made.
 * `own root`: each sandbox has all its folders to itself, `/tmp` among them. `exit signals`: a command that a signal ended is
 * told from one that exited with 128 + n, whoever sent it. `ipv6`: the loopback address ::1. `python3`: a python3 inside;
 * the nc of busybox is there otherwise. `dtach`: what keeps sessions. `memory per command`: one that takes too much ends alone,
 * and not its sandbox. Of the kernel: `signal masks`, `working folders`: `/proc/PID/status` and `/proc/PID/cwd` have them;
 * `window changes`: a program hears of its terminal's new size; `orphaned groups`: TSTP does not stop what nobody would continue.
 * `staying paused`: using a paused sandbox is refused, and does not wake it.
 * `frozen processes`: those of a paused sandbox go on when it wakes. `unset environment`: variables of the sandbox can be taken away.
 * `unread input`: a command may leave input unread and loses none of its output.
 */
export type Feature =
  | 'device paths'
  | 'new workdir'
  | 'own root'
  | 'exit signals'
  | 'ipv6'
  | 'python3'
  | 'dtach'
  | 'memory per command'
  | 'signal masks'
  | 'working folders'
  | 'window changes'
  | 'orphaned groups'
  | 'staying paused'
  | 'frozen processes'
  | 'unset environment'
  | 'unread input';

/** One backend under test. */
export interface Harness extends ConformanceOptions {
  readonly call: Call;
  backend(): Backend;
  /** A new running sandbox, destroyed at the end of the suite. */
  sandbox(spec?: Partial<CreateSpec>): Promise<Sandbox>;
  /** One for all tests that change nothing but files in its workdir. */
  shared(): Promise<Sandbox>;
  has(capability: CapabilityName): boolean;
  /** `test`, or a test that is skipped because `condition` does not hold. */
  when(condition: boolean): typeof test | typeof test.skip;
}

/** A call that nobody gives up. */
export const call: Call = { signal: new AbortController().signal };

/** The least that makes a sandbox. */
export const plain: CreateSpec = { env: {}, labels: {}, limits: {} };

export interface HarnessOfSuite extends Harness {
  open(): Promise<void>;
  close(): Promise<void>;
}

/** A harness whose backend is opened and closed by the suite. */
export function createHarness(options: ConformanceOptions): HarnessOfSuite {
  const made: Sandbox[] = [];
  let backend: Backend | undefined;
  let shared: Promise<Sandbox> | undefined;
  const opened = () => {
    if (backend === undefined) throw new Error('the backend is not open yet');
    return backend;
  };
  const sandbox = async (spec: Partial<CreateSpec> = {}) => {
    const one = await opened().create({ ...plain, ...spec }, call);
    made.push(one);
    return one;
  };
  return {
    ...options,
    call,
    backend: opened,
    sandbox,
    shared() {
      shared ??= sandbox();
      return shared;
    },
    has: (capability) => options.manifest.capabilities[capability] !== undefined,
    when: (condition) => (condition ? test : test.skip),
    async open() {
      backend = await options.create();
    },
    async close() {
      if (backend === undefined) return;
      const { destroy } = backend;
      await Promise.all(made.map((each) => destroy.call(backend, each.id, { force: true }, call)));
      await options.dispose?.(backend);
    },
  };
}

/** What a command did. */
export interface Result {
  readonly exit: Exit;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export type RunOptions = Partial<ExecSpec> & { readonly input?: string | Uint8Array };

/** Runs `argv` to its end; with `input`, that is what it reads. */
export async function run(
  sandbox: Sandbox,
  argv: ExecSpec['argv'],
  options: RunOptions = {},
): Promise<Result> {
  const { input, ...spec } = options;
  const running = await sandbox.exec({ argv, stdin: input === undefined ? 'none' : 'pipe', ...spec }, call);
  running.stdin?.on('error', ignoreBrokenPipe);
  if (input !== undefined) running.stdin?.end(input);
  const [stdout, stderr, exit] = await Promise.all([
    read(running.stdout),
    read(running.stderr),
    running.wait(),
  ]);
  return { stdout, stderr: stderr.toString(), exit };
}

/** Runs shell text with `$1…` to its end. */
export function sh(
  sandbox: Sandbox,
  text: string,
  options: RunOptions & { readonly args?: readonly string[] } = {},
): Promise<Result> {
  const { args = [], ...rest } = options;
  return run(sandbox, ['sh', '-c', text, 'sh', ...args], rest);
}

/** What shell text prints, without the last newline; fails when it exits with anything but 0. */
export async function say(sandbox: Sandbox, text: string, options: RunOptions = {}): Promise<string> {
  const { exit, stdout, stderr } = await sh(sandbox, text, options);
  expect(exit, stderr).toEqual({ code: 0 });
  return stdout.toString().replace(/\n$/, '');
}

/** Starts shell text and waits until it has printed `ready`. */
export async function untilReady(
  sandbox: Sandbox,
  text: string,
  spec: Partial<ExecSpec> = {},
): Promise<Started> {
  const running = await sandbox.exec({ argv: ['sh', '-c', text], stdin: 'none', ...spec }, call);
  // A command does not end before its outputs have been read.
  running.stderr?.resume();
  const output = watch(running.stdout);
  await output.until('ready\n');
  return { running, output };
}

export interface Started {
  readonly running: Running;
  readonly output: Watched;
}

/** An output whose text can be waited for. */
export interface Watched {
  readonly text: () => string;
  /** Resolves when the text so far holds `wanted`; rejects when the output ends without it. */
  until(wanted: string | ((text: string) => boolean)): Promise<void>;
}

/** Reads `stream` from now on. */
export function watch(stream: Readable | undefined): Watched {
  if (stream === undefined) throw new Error('the command has no such output');
  let text = '';
  let ended = false;
  const waiting = new Set<() => void>();
  const tell = () => {
    for (const look of [...waiting]) look();
  };
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    tell();
  });
  stream.on('close', () => {
    ended = true;
    tell();
  });
  return {
    text: () => text,
    until(wanted) {
      const holds = typeof wanted === 'string' ? () => text.includes(wanted) : () => wanted(text);
      return new Promise((resolve, reject) => {
        const look = () => {
          if (holds()) resolve();
          else if (ended)
            reject(new Error(`the output ended without what was waited for: ${text.slice(-500)}`));
          else return;
          waiting.delete(look);
        };
        waiting.add(look);
        look();
      });
    },
  };
}

/** All that a stream gives. */
export async function read(stream: Readable | undefined): Promise<Buffer> {
  return stream === undefined ? Buffer.alloc(0) : await buffer(stream);
}

/** Writes all of `data` with back-pressure and ends the stream. */
export async function feed(sink: Writable | undefined, data: Iterable<Uint8Array>): Promise<void> {
  if (sink === undefined) throw new Error('the command has no input');
  for (const chunk of data) {
    await new Promise<void>((resolve, reject) =>
      sink.write(chunk, (error) => (error ? reject(error) : resolve())),
    );
  }
  await new Promise<void>((resolve) => sink.end(resolve));
}

/** The error that `attempt` rejects with, which must be an SbxError. */
export async function refusal(attempt: Promise<unknown>): Promise<SbxError> {
  const outcome: unknown = await attempt.then(
    () => 'no error',
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(SbxError);
  return outcome as SbxError;
}

/** How a command ended whose sandbox was stopped or removed; the backend may also say just that. */
export async function endOf(running: Running): Promise<Exit | SbxError> {
  return await running.wait().catch((error: unknown) => {
    expect(error).toBeInstanceOf(SbxError);
    return error as SbxError;
  });
}

/** A number of seconds to sleep that no other process has among its arguments. */
export function uniqueSleep(): string {
  return `7${randomInt(1_000_000, 9_999_999)}`;
}

/** How many processes in the sandbox have `word` among their arguments. The word is looked for from a stream, so that the search does not find itself. */
export async function countInside(sandbox: Sandbox, word: string): Promise<number> {
  const { stdout } = await sh(sandbox, 'grep -l -f - /proc/[0-9]*/cmdline 2>/dev/null', {
    input: `${word}\n`,
  });
  return stdout.toString().split('\n').filter(Boolean).length;
}

/** How many processes of this machine have `word` among their arguments. */
export async function countOnThisMachine(word: string): Promise<number> {
  const pids = (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry));
  let count = 0;
  for (const pid of pids) {
    const words = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(goneProcess);
    if (words.includes(word)) count++;
  }
  return count;
}

function goneProcess(error: unknown): string {
  if (hasErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return '';
  throw error;
}

function ignoreBrokenPipe(error: Error): void {
  if (!hasErrno(error, 'EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED')) throw error;
}
