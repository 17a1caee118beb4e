/**
 * Commands at a server that runs shell text, tells what it prints as text, and knows neither input nor signals nor whether
 * its client is still there. guest/exec-text.sh makes up for that; input, signals and the rest are further requests.
 */
import { type Readable, Writable } from 'node:stream';
import type { Call, ExecSpec, Exit, Running } from '../../../backend/contract.ts';
import { execSignals } from '../../../backend/exec-signals.ts';
import { SIGNAL_NUMBERS } from '../../../backend/signal-numbers.ts';
import { unhurried } from '../../../backend/unhurried.ts';
import { SbxError } from '../../../errors.ts';
import { randomHex } from '../../../util/random-id.ts';
import { eventsOf } from './events.ts';
import { keepLease } from './lease.ts';
import { textOutput } from './output.ts';
import {
  closeOf,
  commandOf,
  controlOf,
  endMarkedOf,
  INPUT_PIECE,
  inputEndOf,
  inputOf,
  moreOf,
  type OutputName,
} from './program.ts';
import { type PlainSandbox, runProgram, sendProgram, startProgram } from './shell.ts';

/** How long the answer may stay open behind a command that has ended, in milliseconds. */
const REST_MS = 100;
/** Most characters of the server's own words that are kept. */
const STRAY_LIMIT = 2000;

/** Starts a command; `conflict` when the sandbox is stopped. */
export async function execByText(sandbox: PlainSandbox, spec: ExecSpec, call: Call): Promise<Running> {
  if (spec.user !== undefined) {
    throw new SbxError(
      'unsupported',
      `the server of sandbox '${sandbox.name}' runs all commands as one user`,
      {
        backend: sandbox.api.backend,
        hint: 'leave --user out',
      },
    );
  }
  if (spec.terminal !== undefined)
    return (await import('./terminal.ts')).execOnTerminal(
      sandbox,
      { ...spec, terminal: spec.terminal },
      call,
    );
  if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
  const mark = randomHex(8);
  // The call is to start it; what is going on then is ended by signals.
  const connection = new AbortController();
  const giveUp = () => {
    connection.abort();
    sendProgram(sandbox, endMarkedOf(mark));
  };
  call.signal.addEventListener('abort', giveUp, { once: true });
  try {
    const body = await startProgram(sandbox, commandOf(mark, spec), { signal: connection.signal });
    const { running, started } = follow({ sandbox, spec, mark, body });
    await started;
    return running;
  } catch (error) {
    throw call.signal.aborted ? new SbxError('interrupted', 'interrupted') : error;
  } finally {
    call.signal.removeEventListener('abort', giveUp);
  }
}

interface Begun {
  readonly sandbox: PlainSandbox;
  readonly spec: ExecSpec;
  readonly mark: string;
  readonly body: Readable;
}

/** Reads what the server says of a command. `started` is its process. */
function follow({ sandbox, spec, mark, body }: Begun): {
  readonly running: Running;
  readonly started: Promise<number>;
} {
  const started = Promise.withResolvers<number>();
  const finished = Promise.withResolvers<Exit>();
  // Whoever asks gets the failure; nobody asking is no crash.
  for (const { promise } of [started, finished]) promise.catch(() => undefined);
  const output = (name: OutputName) =>
    textOutput({
      end: `sbx:${mark}:end`,
      more: () => sendProgram(sandbox, moreOf(mark, name)),
      onReaderGone: () => {
        signals.caused('PIPE');
        sendProgram(sandbox, closeOf(mark, name));
      },
    });
  const stdout = output('out');
  const stderr = output('err');
  const outputsEnded = Promise.all([stdout.ended, stderr.ended]);
  // What the command left behind may keep them open inside.
  void outputsEnded.then(() => {
    if (body.closed) return;
    const rest = setTimeout(() => sendProgram(sandbox, closeOf(mark, 'out', 'err')), REST_MS);
    body.once('close', () => clearTimeout(rest));
  });
  const signals = signalsOf(sandbox, mark, started.promise);
  const stdin = spec.stdin === 'pipe' ? inputTo(sandbox, mark) : undefined;
  const lease = keepLease(sandbox, mark);
  let stray = '';
  let ended: number | undefined;
  const hear = (line: string) => {
    const [, word, value = ''] = new RegExp(`^sbx:${mark}:(\\w+) (.*)$`).exec(line) ?? [];
    if (word === 'pid' && isProcess(value)) started.resolve(Number(value));
    else if (word === 'lacks') started.reject(lacking(sandbox, value));
    else if (word === 'exit') {
      ended = Number(value);
      void finish(ended);
    } else if (line !== '') stray = `${stray}${line}\n`.slice(0, STRAY_LIMIT);
  };
  const finish = async (code: number) => {
    await outputsEnded;
    lease.end();
    stdin?.destroy();
    await signals.leftoversGone();
    signals.close();
    await Promise.all([settled(stdout.stream), settled(stderr.stream)]);
    finished.resolve(exitOf(code, signals.sent));
  };
  const listen = async () => {
    for await (const { type, data } of eventsOf(body)) {
      if (typeof data !== 'string') continue;
      if (type === 'stdout') for (const line of stdout.take(data)) hear(line);
      else if (type === 'stderr') for (const line of stderr.take(data)) hear(line);
    }
  };
  void listen()
    .catch((cause: unknown) => cause)
    .then((cause) => {
      lease.end();
      const why = lost(sandbox, stray, cause);
      for (const each of [stdout, stderr]) each.fail(why);
      if (ended !== undefined) return;
      stdin?.destroy();
      started.reject(why);
      finished.reject(why);
    });
  const running: Running = {
    ...(stdin === undefined ? {} : { stdin }),
    stdout: stdout.stream,
    stderr: stderr.stream,
    signal: signals.signal,
    terminate: signals.terminate,
    wait: () => finished.promise,
  };
  return { running, started: started.promise };
}

/** Whether the text is a process that can be sent signals alone: what comes from a sandbox is checked. */
export const isProcess = (text: string) => /^[1-9]\d{0,9}$/.test(text);

/** Signals by further requests. @param started the command's process, once it is known */
export function signalsOf(sandbox: PlainSandbox, mark: string, started: Promise<number>) {
  const going: Promise<unknown>[] = [];
  return execSignals({
    async say(line) {
      await runProgram(sandbox, controlOf(mark, await started, line), unhurried);
    },
    async ask(line) {
      // It takes until all are gone, which only the end of the command waits for; that has its own failures.
      going.push(runProgram(sandbox, controlOf(mark, await started, line), unhurried).catch(() => undefined));
    },
    gone: async () => void (await Promise.all(going)),
  });
}

/** The command's input, a request a piece. */
function inputTo(sandbox: PlainSandbox, mark: string): Writable {
  const put = async (data: Buffer) => {
    for (let at = 0; at < data.length; at += INPUT_PIECE) {
      const code = await runProgram(sandbox, inputOf(mark, data.subarray(at, at + INPUT_PIECE)), unhurried);
      if (code !== 0) throw Object.assign(new Error('the command reads no more'), { code: 'EPIPE' });
    }
  };
  const stream = new Writable({
    write: (data: Buffer, _encoding, done) => void put(data).then(() => done(), done),
    writev: (pieces, done) =>
      void put(Buffer.concat(pieces.map(({ chunk }) => chunk as Buffer))).then(() => done(), done),
    final: (done) => void runProgram(sandbox, inputEndOf(mark), unhurried).then(() => done(), done),
  });
  // A command that reads no more is no failure; whoever writes is told by its own callback.
  stream.on('error', () => undefined);
  return stream;
}

/** A shell tells 128 + n both for a signal and for an exit code; a signal is told only where it was sent from here. */
export function exitOf(code: number, sent: ReadonlySet<string>): Exit {
  const signal = Object.entries(SIGNAL_NUMBERS).find(
    ([name, number]) => code === 128 + number && sent.has(name),
  );
  return signal === undefined ? { code } : { signal: signal[0] };
}

function lacking({ name, api }: PlainSandbox, program: string): SbxError {
  return new SbxError(
    'unsupported',
    `sandbox '${name}' lacks ${program}, which commands over its server need`,
    {
      backend: api.backend,
      hint: 'use an image with coreutils or busybox',
    },
  );
}

export function lost({ api, name }: PlainSandbox, said: string, cause: unknown): SbxError {
  const { backend, url } = api;
  const last = said.trim().split('\n').at(-1) ?? '';
  const why = last === '' ? '' : `: ${last}`;
  return new SbxError('unreachable', `the server at ${url} lost a command in sandbox '${name}'${why}`, {
    backend,
    hint: `see whether the sandbox runs: sbx inspect ${backend}/${name}`,
    cause,
  });
}

/** Resolves when what was received has been read, or is wanted by nobody. */
async function settled(stream: NonNullable<Running['stdout']>): Promise<void> {
  if (stream.readableLength === 0 || stream.destroyed) return;
  await new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) stream.once(event, () => resolve());
  });
}
