/** The part of the contract that is about sessions: named terminals that outlive the client. Types only; see contract.ts for the conventions. */
import type { Readable, Writable } from 'node:stream';
import type { Argv, Call, Exit, TerminalSize } from './contract.ts';

/** What is known of a session. Everything but name and state can be unknown. */
export interface SessionInfo {
  readonly name: string;
  readonly state: 'running' | 'ended';
  readonly createdAt?: string | undefined;
  /** Whether any client is attached now. */
  readonly attached?: boolean | undefined;
  /** The command that runs in the foreground of its terminal now. */
  readonly command?: string | undefined;
  /** The working folder of that command. */
  readonly workdir?: string | undefined;
  readonly size?: TerminalSize | undefined;
  /** The process id of its shell, inside. */
  readonly pid?: number | undefined;
  /** Whether its recording has all that it printed lately, has gaps (a full disk), or is not made for want of a tool. */
  readonly recording?: 'whole' | 'partial' | 'none' | undefined;
  /** How its shell ended. */
  readonly exit?: Exit | undefined;
  readonly endedAt?: string | undefined;
}

export interface SessionSpec {
  /** Letters, digits, `.`, `_` and `-`, at most 64, and no `.` or `-` first. */
  readonly name: string;
  /** Default: the user's login shell in the sandbox. */
  readonly argv?: Argv | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly workdir?: string | undefined;
  readonly user?: string | undefined;
  readonly size?: TerminalSize | undefined;
  /** The value of TERM. */
  readonly term?: string | undefined;
}

export interface AttachOptions {
  /** The size that the terminal gets before the first byte. Not used with `readOnly`. */
  readonly size: TerminalSize;
  /** Input and sizes are not passed on. */
  readonly readOnly?: boolean | undefined;
  /** Ends the channels of all other clients. */
  readonly takeOver?: boolean | undefined;
}

/**
 * Sessions of a sandbox. Names are unique among those that run; an ended one is known by its name until the next of
 * that name starts. Unknown names reject with `not_found`.
 */
export interface Sessions {
  /**
   * Starts a session. Rejects with `conflict` when one of that name runs, also when two start at once, and with
   * `unsupported` where the sandbox lacks the program that keeps sessions: the hint says how to get it.
   */
  create(spec: SessionSpec, call: Call): Promise<SessionInfo>;
  /** Those that run and those that ended lately, oldest first. Stale remains are noticed and not listed. */
  list(call: Call): Promise<readonly SessionInfo[]>;
  /** Ends the session with all that runs in it: HUP, TERM, then KILL after a grace. An ended one is forgotten. */
  kill(name: string, call: Call): Promise<void>;
  /** `conflict` when the new name is taken. Clients stay attached. */
  rename(name: string, to: string, call: Call): Promise<void>;
  /** Opens a channel to a running session; `conflict` when it has ended. Concurrent. */
  attach(name: string, options: AttachOptions, call: Call): Promise<SessionChannel>;
  /**
   * The end of what the session has printed, at most `bytes` of it, byte for byte; also of an ended one. It begins
   * anywhere, also inside an escape code. Empty where nothing is recorded.
   */
  recording(name: string, bytes: number, call: Call): Promise<Uint8Array>;
  /** Where the session's shell is now, for `exec --session`. */
  surroundings(name: string, call: Call): Promise<SessionSurroundings>;
}

/** Working folder of the session's shell as it is now, and the environment that it was started with. */
export interface SessionSurroundings {
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A client's connection to the terminal of a session. */
export interface SessionChannel {
  /** What the terminal prints, raw, from the moment of attaching. Must be read all the time: a reader that stalls may hold up everybody. */
  readonly output: Readable;
  /** Keys. Obeys back-pressure; what is written while a program does not read waits without holding up output. */
  readonly input: Writable;
  resize(size: TerminalSize): void;
  /** Asks the program in the foreground to draw itself again. */
  redraw(size: TerminalSize): void;
  /** Resolves when the other end answers: how a link that is open on one side only is noticed. Absent where a broken link always shows. */
  probe?(call: Call): Promise<void>;
  /** Detaches; the session goes on. */
  close(): void;
  /** Resolves once, after the last byte of output. Never rejects. */
  readonly closed: Promise<ChannelEnd>;
}

/**
 * How a channel ended: the session's shell did (`exit` where it is known), this client left, another client took
 * over, or the link broke while the session may well go on.
 */
export type ChannelEnd =
  | { readonly reason: 'ended'; readonly exit?: Exit | undefined }
  | { readonly reason: 'closed' }
  | { readonly reason: 'taken' }
  | { readonly reason: 'lost'; readonly error: Error };
