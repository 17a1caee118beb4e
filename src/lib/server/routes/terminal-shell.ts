/** What a terminal over a WebSocket leads to: a shell of its own, or a session that others see too. */
import type { Writable } from 'node:stream';
import type { Call, ChannelEnd, SessionChannel, Sessions, TerminalSize } from '../../backend/contract.ts';
import { type CapabilityIndex, need } from '../../backend/need.ts';
import { SbxError } from '../../errors.ts';
import { LOGIN_SHELL } from '../../ops/login-shell.ts';
import type { Use } from '../fleet.ts';
import { CLOSE, type SocketLink, sendOutput } from '../http/web-socket.ts';

/** Why the socket is closed. */
export interface TerminalEnd {
  readonly code: number;
  readonly reason: string;
}

export interface Terminal {
  readonly input: Writable;
  /** Resolves when keys that come later find that size, where that can be told. */
  resize(size: TerminalSize): Promise<void>;
  /** Lets go of it: a shell ends, a session goes on. */
  leave(): void;
  /** Resolves after the last output. */
  readonly over: Promise<TerminalEnd>;
}

/** Milliseconds that a shell has to end when its client is gone. */
const GRACE_MS = 2000;
/** Bytes of a session's output that wait for its client. */
const WAITING_LIMIT = 4 * 1024 * 1024;
const TERM = 'xterm-256color';

/** Starts a login shell whose output goes to `link`. */
export async function shellTerminal(
  { sandbox, record }: Use,
  size: TerminalSize,
  link: SocketLink,
  having: CapabilityIndex,
  call: Call,
): Promise<Terminal> {
  need(sandbox, 'terminal', having);
  const running = await sandbox.exec(
    { argv: LOGIN_SHELL, env: record.env, stdin: 'pipe', terminal: { ...size, term: TERM } },
    call,
  );
  const { stdin, stdout } = running;
  if (stdin === undefined || stdout === undefined)
    throw new SbxError('bug', `backend '${sandbox.backend}' gave no streams for a terminal`);
  // A shell that ends does not read what was typed; that is told by its end.
  stdin.on('error', () => undefined);
  return {
    input: stdin,
    // A size that does not arrive is no reason to end the shell.
    resize: async (to) => running.resize?.(to).catch(() => undefined),
    leave() {
      // Interactive shells take no notice of TERM.
      const told = running.signal('HUP').then(() => running.terminate(GRACE_MS));
      // When that fails, so does wait, which says why.
      told.catch(() => undefined);
    },
    over: Promise.all([running.wait(), sendOutput(link, stdout)]).then(() => ({
      code: CLOSE.done,
      reason: 'the shell has ended',
    })),
  };
}

/** Attaches to the session `name`, which is made where it is missing. */
export async function sessionTerminal(
  { sandbox, record }: Use,
  { name, size }: { readonly name: string; readonly size: TerminalSize },
  { socket }: SocketLink,
  having: CapabilityIndex,
  call: Call,
): Promise<Terminal> {
  const sessions = need(sandbox, 'sessions', having);
  const spec = { name, size, env: record.env, term: TERM };
  const channel = await attach(sessions, spec, call);
  let screen = size;
  let skipped = false;
  // All is read at once, since others look at the same session; what is too much is passed over, and the screen drawn again.
  channel.output.on('data', (chunk: Buffer) => {
    if (socket.bufferedAmount > WAITING_LIMIT) skipped = true;
    else
      socket.send(chunk, { binary: true }, () => {
        if (!skipped || socket.bufferedAmount > 0) return;
        skipped = false;
        channel.redraw(screen);
      });
  });
  channel.input.on('error', () => undefined);
  return {
    input: channel.input,
    async resize(to) {
      screen = to;
      channel.resize(to);
    },
    leave: () => channel.close(),
    over: channel.closed.then(endOf),
  };
}

async function attach(
  sessions: Sessions,
  spec: Parameters<Sessions['create']>[0] & { readonly size: TerminalSize },
  call: Call,
): Promise<SessionChannel> {
  const { name, size } = spec;
  try {
    return await sessions.attach(name, { size }, call);
  } catch (error) {
    if (!isOneOf(error, 'not_found', 'conflict')) throw error;
  }
  try {
    await sessions.create(spec, call);
  } catch (error) {
    // Somebody else made it meanwhile.
    if (!isOneOf(error, 'conflict')) throw error;
  }
  return sessions.attach(name, { size }, call);
}

function isOneOf(error: unknown, ...codes: readonly SbxError['code'][]): boolean {
  return error instanceof SbxError && codes.includes(error.code);
}

function endOf(end: ChannelEnd): TerminalEnd {
  switch (end.reason) {
    case 'ended':
      return { code: CLOSE.done, reason: 'the session has ended' };
    case 'taken':
      return { code: CLOSE.taken, reason: 'another client took the session over' };
    case 'lost':
      return { code: CLOSE.failed, reason: 'the session was lost' };
    case 'closed':
      return { code: CLOSE.done, reason: 'left' };
  }
}
