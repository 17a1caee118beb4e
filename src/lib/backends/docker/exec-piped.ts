/**
 * Commands in a container of this machine, started past the engine, which takes longer for it than all the rest: see pipes.ts. Only as the
 * container's root, whom the server inside is, and without a terminal. Whether a command is run is decided once, by who reads a
 * word (guest/exec-piped.sh); so what the server does not take up goes by the engine, and nothing runs twice.
 */
import type { Readable } from 'node:stream';
import type { Call, Exit, Running } from '../../backend/contract.ts';
import { execSignals } from '../../backend/exec-signals.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { endOrRest } from '../../transport/end-or-rest.ts';
import { randomHex } from '../../util/random-id.ts';
import type { Box } from './box.ts';
import { exitOf, whyUntold } from './exec-exit.ts';
import { type PipedSpec, requestText } from './exec-request.ts';
import { fifoMaker, hasServer, pipesOf, refuseUnexpected } from './pipes.ts';
import { type PipesRequest, requestByPipes } from './pipes-request.ts';

/** How long a server may take to take up a command, in milliseconds. One that was stopped, or finds no room, never does. */
const PATIENCE_MS = 3000;
/** Characters that are kept of what a server says. */
const HEARD = 64;

export interface PipedRunning extends Running {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Goes away; the command runs on, and finds its input at its end. */
  leave(): void;
}

/** Starts a command; undefined when it has to go by the engine. */
export async function execPiped(box: Box, spec: PipedSpec, call: Call): Promise<PipedRunning | undefined> {
  if (spec.terminal !== undefined || box.isPaused || !isRoot(spec.user ?? box.user)) return undefined;
  const began = Date.now();
  const request = ask(box, spec);
  if (request === undefined) return undefined;
  const said = listen(request);
  const isUp = await Promise.race([said.begun, givenUp(call, said.begun)]);
  if (!isUp && request.withdraw()) {
    drop(request);
    if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
    return undefined;
  }
  // From here on it runs, or has run: it reads that its client is gone.
  if (!isUp && !call.signal.aborted) await said.begun;
  if (call.signal.aborted) {
    drop(request);
    throw new SbxError('interrupted', 'interrupted');
  }
  request.begun();
  return follow(box, request, said, began);
}

/** Whether commands start past the engine, as far as can be told without one. */
export function isServed(box: Box): boolean {
  const folder = pipesOf(box.docker, box.id);
  return folder !== undefined && !box.isPaused && isRoot(box.user) && hasServer(folder);
}

function isRoot(user: string | undefined): boolean {
  return user === undefined || user === 'root' || user === '0';
}

function ask(box: Box, spec: PipedSpec): PipesRequest | undefined {
  const folder = pipesOf(box.docker, box.id);
  if (folder === undefined) return undefined;
  const mark = randomHex(8);
  const text = requestText(mark, spec);
  if (text === undefined) return undefined;
  try {
    return requestByPipes({ folder, mark, text, stdin: spec.stdin === 'pipe', fifos: fifoMaker(box.docker) });
  } catch (error) {
    refuseUnexpected(error);
    box.isUnserved = hasErrno(error, 'ENXIO');
    return undefined;
  }
}

interface Said {
  /** Whether the command has begun; false when nobody can say so any more. */
  readonly begun: Promise<boolean>;
  /** Its exit code; undefined when nobody told it. */
  readonly ended: Promise<number | undefined>;
}

function listen({ said }: Pick<PipesRequest, 'said'>): Said {
  const begun = Promise.withResolvers<boolean>();
  const ended = Promise.withResolvers<number | undefined>();
  let heard = '';
  said.on('data', (data: Buffer) => {
    heard = `${heard}${data.toString('latin1')}`.slice(0, HEARD);
    if (heard.startsWith('begun\n')) begun.resolve(true);
    const [, code] = /^(?:begun\n)?exit (\d{1,3})\n/.exec(heard) ?? [];
    if (code !== undefined && Number(code) < 256) ended.resolve(Number(code));
  });
  for (const event of ['end', 'error', 'close']) {
    said.once(event, () => {
      begun.resolve(false);
      ended.resolve(undefined);
    });
  }
  return { begun: begun.promise, ended: ended.promise };
}

/** Resolves with false when it has taken too long, or is not wanted any more. */
function givenUp({ signal }: Call, begun: Promise<unknown>): Promise<false> {
  return new Promise((resolve) => {
    const giveUp = () => resolve(false);
    const timer = setTimeout(giveUp, PATIENCE_MS);
    signal.addEventListener('abort', giveUp, { once: true });
    void begun.then(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    });
  });
}

function follow(box: Box, request: PipesRequest, said: Said, began: number): PipedRunning {
  const { stdin, stdout, stderr } = request;
  const gone = answered(request);
  let left = false;
  const say = async (line: string) => request.say(line);
  const signals = execSignals({ say, ask: say, gone: () => gone });
  for (const stream of [stdout, stderr])
    stream.once('close', () => {
      // Whoever writes to it then is sent one.
      if (!stream.readableEnded) signals.caused('PIPE');
    });
  const finished = (async (): Promise<Exit> => {
    try {
      const code = await said.ended;
      if (code === undefined)
        throw left ? new SbxError('interrupted', 'interrupted') : await whyUntold(box, began);
      const exit = await exitOf(box, { ExitCode: code }, signals.sent, began);
      await signals.leftoversGone();
      request.say('end');
      stdin?.destroy();
      await Promise.all([endOrRest(stdout), endOrRest(stderr)]);
      return exit;
    } catch (error) {
      drop(request);
      throw error;
    } finally {
      signals.close();
      request.close();
    }
  })();
  // Whoever asks gets the failure; nobody asking is no crash.
  finished.catch(() => undefined);
  return {
    ...(stdin === undefined ? {} : { stdin }),
    stdout,
    stderr,
    signal: signals.signal,
    terminate: signals.terminate,
    wait: () => finished,
    leave() {
      left = true;
      request.say('end');
      drop(request);
    },
  };
}

/** Resolves when the watcher has said that nothing is left, or is gone itself. */
function answered({ told }: Pick<PipesRequest, 'told'>): Promise<void> {
  return new Promise((resolve) => {
    for (const event of ['data', 'end', 'error', 'close']) told.once(event, () => resolve());
  });
}

/** Gives a command up: its watcher ends it. */
function drop(request: PipesRequest): void {
  request.close();
  for (const stream of [request.stdin, request.stdout, request.stderr]) stream?.destroy();
}
