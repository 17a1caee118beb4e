/** Attaches the local terminal to a session, and stays attached while connections come and go. */
import type { Call, ChannelEnd, Exit, SessionChannel, TerminalSize } from '../backend/contract.ts';
import { type Conversation, converse } from './conversation.ts';
import { type DetachKeys, describeDetachKeys } from './detach-keys.ts';
import { createKeyQueue } from './key-queue.ts';
import { listenToKeyboard } from './keyboard.ts';
import type { Recording } from './live-output.ts';
import { enterRawMode, type RawInput } from './raw-mode.ts';
import { redial } from './reconnect.ts';
import { createScreenWriter, type ScreenWriter } from './screen-writer.ts';
import { noStatusLine, pausedFor, reconnecting, statusLine } from './status-line.ts';
import { type Screen, sizeOf } from './terminal-size.ts';

/** What to attach to and how. */
export interface AttachRequest {
  /** Connects to the session. Called again after a connection was lost. */
  readonly dial: (size: TerminalSize, call: Call) => Promise<Dialed>;
  /** The end of what the session has printed, at most so many bytes. */
  readonly recording: (bytes: number, call: Call) => Promise<Uint8Array>;
  /** Whether the recording has all that was printed. */
  readonly isWhole: (call: Call) => Promise<boolean>;
  /** Whether to show what the session printed before. */
  readonly replay: boolean;
  readonly keys: DetachKeys;
  /** Keys other than the detach keys, and sizes, are not passed on. */
  readonly readOnly: boolean;
  /** How long to try to get a lost connection back, in milliseconds. */
  readonly giveUpMs: number;
  /** Where a sandbox can be paused: whether it is, and the command by which it goes on. */
  readonly paused?: Paused | undefined;
}

/** How to know that a sandbox is paused. */
export interface Paused {
  readonly isPaused: (call: Call) => Promise<boolean>;
  readonly resume: string;
}

/** A connection, and whether its session has just been made: then all that it printed is shown, and nothing is cleared for it. */
export interface Dialed {
  readonly channel: SessionChannel;
  readonly isNew: boolean;
}

/** The local terminal. */
export interface AttachHost {
  readonly input: RawInput;
  readonly output: Screen;
  /** Leaves the session when it is aborted. */
  readonly signal: AbortSignal;
}

/** Why it is over. */
export type Left =
  | { readonly reason: 'detached' | 'taken' | 'interrupted' | 'terminal gone' }
  | { readonly reason: 'ended'; readonly exit?: Exit | undefined }
  | { readonly reason: 'lost'; readonly error: unknown };

/** Bytes of recording that are shown at first, and those that bring a screen up to date after a lost connection. */
const REPLAYED = 1 << 18;
const REFRESHED = 1 << 16;
/** Milliseconds after which typing sets the size of the session's terminal again. */
const CLAIMED_FOR = 500;
/** Milliseconds that the local terminal has to take the last bytes. */
const LAST_BYTES_DUE = 1000;

/**
 * Stays until the session ends or is left; the local terminal is then as it was before.
 * @throws what `dial` failed with when there never was a connection.
 */
export async function attach(request: AttachRequest, { input, output, signal }: AttachHost): Promise<Left> {
  const { promise: left, resolve } = Promise.withResolvers<Left>();
  const over = new AbortController();
  const leave = (reason: Left) => {
    resolve(reason);
    over.abort();
  };
  let now: Conversation | undefined;
  let wasConnected = false;
  let channel: SessionChannel | undefined;
  let status: string | undefined;
  const size = () => sizeOf(output);
  using writer = createScreenWriter(output, () => {
    if (writer.modes.alternate) void now?.redraw();
  });
  const print = (text: string) => writer.write(Buffer.from(text));
  const show = (text: string | undefined) => {
    status = text;
    print(text === undefined ? noStatusLine(size()) : statusLine(text, size()));
  };
  let claimed = 0;
  /** Of several clients the one that typed last has its size; who the others are is not known. */
  const claimSize = () => {
    const time = Date.now();
    if (Math.abs(time - claimed) < CLAIMED_FOR) return;
    claimed = time;
    channel?.resize(size());
  };
  let modesBefore = '';
  using _raw = enterRawMode(input, {
    onStop() {
      modesBefore = writer.modes.on();
      print(`${writer.modes.off()}\x1b[m\r\n`);
    },
    onContinue() {
      print(modesBefore);
      modesBefore = '';
      void now?.redraw();
    },
  });
  const queue = createKeyQueue(() => input.resume());
  using _keyboard = listenToKeyboard(input, request.keys, {
    isDown: () => status !== undefined,
    onKeys(bytes) {
      if (request.readOnly) return;
      claimSize();
      queue.push(bytes);
      now?.keysSent();
      if (!queue.hasRoom) input.pause();
    },
    onLeave: () => leave({ reason: 'detached' }),
    onHelp: () => print(helpText(request.keys)),
    onGone: () => leave({ reason: 'terminal gone' }),
  });
  const onResize = () => {
    if (status !== undefined) show(status);
    else if (!request.readOnly) channel?.resize(size());
  };
  output.on('resize', onResize);
  void writer.gone.then(() => leave({ reason: 'terminal gone' }));
  const onAbort = () => leave({ reason: 'interrupted' });
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort);

  /** Connects and stays until that connection ends. */
  const connect = async (again: boolean): Promise<Left | undefined> => {
    const dialedSize = size();
    const dial = (until: AbortSignal) => unlessAborted(request.dial(dialedSize, { signal: until }), until);
    const dialed = again
      ? await redial(dial, {
          giveUpMs: request.giveUpMs,
          signal: over.signal,
          onProgress: (attempt, waitMs) => show(reconnecting(attempt, waitMs)),
        })
      : await dial(over.signal);
    channel = dialed.channel;
    wasConnected = true;
    if (again) status = undefined;
    const { cols, rows } = size();
    if (cols !== dialedSize.cols || rows !== dialedSize.rows) onResize();
    const cleared = () => `${writer.modes.off()}\x1b[m\x1b[H\x1b[2J`;
    const prefix = () => {
      if (again) return cleared();
      // What is on the screen goes up and stays in the terminal's memory.
      return dialed.isNew ? '' : `\x1b[m\r${'\n'.repeat(size().rows)}\x1b[H\x1b[J`;
    };
    const recording =
      again || request.replay || dialed.isNew
        ? (call: Call) => recordingOf(request, again ? REFRESHED : REPLAYED, prefix, call)
        : undefined;
    const { readOnly, paused } = request;
    const onChange = (isPaused: boolean) =>
      show(isPaused && paused !== undefined ? pausedFor(paused.resume) : undefined);
    now = converse(
      {
        channel,
        readOnly,
        recording,
        isNew: dialed.isNew,
        paused: paused && { isPaused: paused.isPaused, onChange },
        refresh: (call) => recordingOf(request, REFRESHED, cleared, call),
        isWhole: request.isWhole,
      },
      { writer, keys: queue, size, signal: over.signal },
    );
    const end = await Promise.race([now.end, left]);
    now = undefined;
    dialed.channel.close();
    channel = undefined;
    return leftBy(end);
  };

  try {
    let end = await Promise.race([connect(false), left]);
    while (end === undefined) end = await Promise.race([connect(true).catch(lostFor), left]);
    return end;
  } finally {
    over.abort();
    output.off('resize', onResize);
    signal.removeEventListener('abort', onAbort);
    if (status !== undefined) print(noStatusLine(size()));
    if (wasConnected) print(leaving(writer));
    await writer.flush(LAST_BYTES_DUE);
  }
}

/** Makes the terminal as it was, with the cursor at the beginning of a line and nothing below; what was cut off ends first. */
function leaving({ modes, isAtLineStart }: ScreenWriter): string {
  const lineBreak = modes.alternate || !isAtLineStart ? '\r\n' : '';
  return `\x1b\\${modes.off()}\x1b[m${lineBreak}\x1b[J`;
}

const lostFor = (error: unknown): Left => ({ reason: 'lost', error });

/** What the end of a connection means; undefined when it is to be had again. */
function leftBy(end: ChannelEnd | Left): Left | undefined {
  if (end.reason === 'lost') return undefined;
  return end.reason === 'closed' ? { reason: 'detached' } : end;
}

async function recordingOf(
  request: AttachRequest,
  most: number,
  prefix: () => string,
  call: Call,
): Promise<Recording> {
  const bytes = await request.recording(most, call);
  return { bytes, isCut: bytes.length >= most, prefix: prefix() };
}

/** What `dialing` resolves with, unless the signal comes first; a connection that comes later is closed. */
function unlessAborted(dialing: Promise<Dialed>, signal: AbortSignal): Promise<Dialed> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      reject(signal.reason);
      // Nobody waits for how it fails any more.
      dialing.then(({ channel }) => channel.close()).catch(() => undefined);
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    dialing.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function helpText(keys: DetachKeys): string {
  const sequence = describeDetachKeys(keys);
  const lines = [
    'keys of sbx, at the beginning of a line:',
    '  ~.  leave; the session goes on',
    '  ~~  a tilde',
    '  ~?  this help',
  ];
  if (sequence !== '') lines.push(`and everywhere: ${sequence} leaves`);
  return ['', ...lines, ''].join('\r\n');
}
