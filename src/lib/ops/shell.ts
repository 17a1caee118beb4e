/** Puts the local terminal into a session of a sandbox, or into a plain shell where there are no sessions. */
import type { Argv, Exit, Sandbox, SessionChannel, Sessions } from '../backend/contract.ts';
import type { EndingSignal } from '../cli/signals.ts';
import { SbxError } from '../errors.ts';
import { type AttachRequest, attach, type Dialed } from '../session/attach.ts';
import type { DetachKeys } from '../session/detach-keys.ts';
import type { ExecHost } from './exec.ts';
import { exitCodeOfCommand } from './exec-exit.ts';
import { endOfSession, exitOf, type SessionEnd, whyLost } from './session-end.ts';

export { DEFAULT_DETACH_KEYS, parseDetachKeys } from '../session/detach-keys.ts';

/** The session that is meant when none is named. */
export const MAIN_SESSION = 'main';

/** What to attach to and how. */
export interface ShellRequest {
  readonly session: string;
  /** Make the session where there is none, unless it is only to be watched. */
  readonly create: boolean;
  /** What a new session runs, as shell text, instead of a login shell. `conflict` when the session runs already. */
  readonly command: string | undefined;
  readonly readOnly: boolean;
  readonly takeOver: boolean;
  readonly replay: boolean;
  readonly keys: DetachKeys;
  /** Milliseconds after which a lost connection is given up. */
  readonly giveUpMs: number;
  /** The value of TERM for what is started. */
  readonly term: string | undefined;
}

/** How it ended. */
export interface ShellOutcome {
  readonly how: 'detached' | 'taken' | 'ended' | 'lost' | 'interrupted' | 'terminal gone';
  /** What sbx exits with. */
  readonly exitCode: number;
  /** Why the connection could not be had again. */
  readonly error?: unknown;
}

/** The exit code when a lost connection was given up. */
export const EXIT_GIVEN_UP = 254;

/**
 * Attaches to a session until it ends or is left; the local terminal is then as it was before.
 * @throws SbxError `usage` without a terminal, `unsupported` where sessions cannot be had, and why it never attached.
 */
export async function attachSession(
  sandbox: Sandbox,
  sessions: Sessions,
  request: ShellRequest,
  host: ExecHost,
): Promise<ShellOutcome> {
  const { io, signals } = host;
  refuseNoTerminal(host, sandbox.name);
  const controller = new AbortController();
  let received: EndingSignal | undefined;
  using _taken = signals.takeOver((name) => {
    received ??= name;
    controller.abort();
  });
  const { session, readOnly, replay, keys, giveUpMs } = request;
  const dialer = createDialer(sessions, request);
  const left = await attach(
    {
      dial: dialer,
      recording: (bytes, call) => sessions.recording(session, bytes, call),
      isWhole: async (call) => {
        const all = await sessions.list(call);
        return all.some(({ name, recording }) => name === session && recording === 'whole');
      },
      replay,
      keys,
      readOnly,
      giveUpMs,
      paused: pausedOf(sandbox),
    },
    { input: io.stdin.stream(), output: io.stdout.stream(), signal: controller.signal },
  );
  switch (left.reason) {
    case 'ended':
      return endedBy(await endOfSession(sandbox, sessions, session, left.exit, host.signal));
    case 'lost':
      return endedBy({ error: await whyLost(sandbox, left.error, host.signal) });
    case 'interrupted':
      return {
        how: 'interrupted',
        exitCode: exitCodeOfCommand({ signal: (received ?? 'SIGTERM').slice(3) }),
      };
    case 'terminal gone':
      return { how: 'terminal gone', exitCode: exitCodeOfCommand({ signal: 'HUP' }) };
    default:
      return { how: left.reason, exitCode: 0 };
  }
}

function endedBy(end: SessionEnd): ShellOutcome {
  if ('exit' in end) return { how: 'ended', exitCode: exitCodeOfCommand(end.exit) };
  return { how: 'lost', exitCode: EXIT_GIVEN_UP, error: end.error };
}

function pausedOf(sandbox: Sandbox): AttachRequest['paused'] {
  if (sandbox.can.suspend === undefined) return undefined;
  return {
    isPaused: async (call) => (await sandbox.info(call)).state === 'paused',
    resume: `sbx resume ${sandbox.name}`,
  };
}

/** Refuses what can only be done on a terminal. @throws SbxError `usage` */
export function refuseNoTerminal({ io }: Pick<ExecHost, 'io'>, name: string | undefined): void {
  if (io.stdin.isTTY && io.stdout.isTTY) return;
  throw new SbxError('usage', 'a session needs a terminal, and standard input or output is none', {
    hint: `run a command instead: sbx exec ${name ?? 'SANDBOX'} -- CMD…`,
  });
}

/** The command that a plain shell or a session runs instead of a login shell. */
export function argvOf(command: string | undefined): Argv | undefined {
  return command === undefined ? undefined : ['/bin/sh', '-c', command];
}

/** Tries that it takes when others make and end the same session at the same time. */
const TRIES = 5;

/** Connects to the session, which it makes at first where it is missing; others may do the same at the same time. */
function createDialer(sessions: Sessions, request: ShellRequest): AttachRequest['dial'] {
  const { session, readOnly, takeOver, command } = request;
  let hasConnected = false;
  return async (size, call): Promise<Dialed> => {
    const make = () =>
      sessions.create({ name: session, argv: argvOf(command), size, term: request.term }, call).then(
        () => true,
        (error: unknown) => {
          if (!isOneOf(error, 'conflict')) throw error;
          return false;
        },
      );
    let isNew = false;
    if (command !== undefined && !hasConnected) {
      isNew = await make();
      if (!isNew) throw runsAlready(session);
    }
    for (let tries = 1; ; tries++) {
      try {
        // Whoever took over once does not again after a lost connection, when somebody else may have.
        const options = { size, readOnly, takeOver: takeOver && !hasConnected };
        const channel = await sessions.attach(session, options, call);
        hasConnected = true;
        return { channel, isNew };
      } catch (error) {
        if (!isOneOf(error, 'not_found', 'conflict')) throw error;
        if (isNew || hasConnected) {
          const exit = await exitOf(sessions, session, call.signal);
          if (exit === undefined) throw error;
          hasConnected = true;
          return { channel: endedChannel(exit), isNew };
        }
        if (!request.create || readOnly || tries >= TRIES) throw error;
      }
      isNew = await make();
    }
  };
}

function runsAlready(session: string): SbxError {
  return new SbxError(
    'conflict',
    `session '${session}' runs already, so that --command cannot be its command`,
    {
      hint: 'leave --command out, or name another with --session',
    },
  );
}

/** Stands for a connection to a session that ended before there was one. */
function endedChannel(exit: Exit): SessionChannel {
  const { Readable, Writable } = process.getBuiltinModule('node:stream');
  return {
    output: Readable.from([]),
    input: new Writable({ write: (_chunk, _encoding, done) => done() }),
    resize() {
      return undefined;
    },
    redraw() {
      return undefined;
    },
    close() {
      return undefined;
    },
    closed: Promise.resolve({ reason: 'ended', exit }),
  };
}

function isOneOf(error: unknown, ...codes: SbxError['code'][]): boolean {
  return error instanceof SbxError && codes.includes(error.code);
}
