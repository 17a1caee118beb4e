/** What happens over one connection to a session, from when it is there until it ends. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Call, ChannelEnd, SessionChannel, TerminalSize } from '../backend/contract.ts';
import { pause } from '../util/pause.ts';
import { watchGaps } from './gap-watch.ts';
import type { KeyQueue } from './key-queue.ts';
import { type LinkWatch, watchLink } from './link-watch.ts';
import { createLiveOutput, type Recording } from './live-output.ts';
import { type PauseHooks, type PauseWatch, watchPause } from './pause-watch.ts';
import { redrawAnew } from './redraw.ts';
import type { ScreenWriter } from './screen-writer.ts';

/** The local side, which outlives connections. */
export interface LocalSide {
  readonly writer: ScreenWriter;
  readonly keys: KeyQueue;
  readonly size: () => TerminalSize;
  readonly signal: AbortSignal;
}

/** One connection. */
export interface Conversation {
  /** Resolves with how it ended, when all that came over it has been handed to the terminal. */
  readonly end: Promise<ChannelEnd>;
  keysSent(): void;
  /** Has the program in front show itself again, also one that has nothing on an alternate screen. */
  redraw(): Promise<void>;
}

/** What a connection begins with. */
export interface Opening {
  readonly channel: SessionChannel;
  readonly readOnly: boolean;
  /** The end of what was printed before; undefined where it is not wanted or there is none. */
  readonly recording: ReadRecording | undefined;
  /** Whether the session has just been made: it shows itself without being asked. */
  readonly isNew: boolean;
  /** Whether the sandbox is paused; undefined where that cannot be. */
  readonly paused: PauseHooks | undefined;
  /** What brings the screen up to date after a pause. */
  readonly refresh: ReadRecording;
  /** Whether the recording has all that was printed. */
  readonly isWhole: (call: Call) => Promise<boolean>;
}

type ReadRecording = (call: Call) => Promise<Recording | undefined>;

/** Milliseconds that the recording may take; then the session goes on without. */
const RECORDING_DUE = 5000;

/** Milliseconds between looks at the recording as long as nothing comes over the connection. */
const LATE = [50, 150, 500, 2000];

/** Connects the local side with a channel. */
export function converse(opening: Opening, local: LocalSide): Conversation {
  const { channel, readOnly, recording } = opening;
  const { writer, signal } = local;
  const over = new AbortController();
  const live = createLiveOutput((bytes) => writer.write(bytes));
  const watch: LinkWatch | undefined =
    channel.probe && watchLink((call) => channel.probe?.(call) ?? Promise.resolve(), signal);
  channel.output.on('data', (bytes: Uint8Array) => {
    live.take(bytes);
    watch?.outputSeen();
    rest?.outputSeen();
    gaps.outputSeen(bytes);
  });
  // How the channel ended tells what is wrong with its streams.
  for (const stream of [channel.output, channel.input]) stream.on('error', () => undefined);

  const inTime = async <T>(ask: ((call: Call) => Promise<T>) | undefined): Promise<T | undefined> => {
    const due = AbortSignal.timeout(RECORDING_DUE);
    try {
      return await ask?.({ signal: AbortSignal.any([signal, due]) });
    } catch (error) {
      // A connection that is lost says so itself; and one that is not is worth more than what was printed before.
      if (!(error instanceof Error)) throw error;
      return undefined;
    }
  };
  const redraw = async () => {
    if (readOnly) return;
    if (writer.modes.alternate) channel.redraw(local.size());
    else await redrawAnew(channel, local.size, AbortSignal.any([signal, over.signal]));
  };
  const show = async (how: ReadRecording | undefined): Promise<boolean> => {
    const recorded = await inTime(how);
    // What is here by now belongs to what the recording may have already.
    await nextTurn();
    live.begin(recorded);
    return recorded !== undefined && recorded.bytes.length > 0;
  };
  const begin = async () => {
    const isShown = await show(recording);
    if (opening.isNew && !isShown && !readOnly) channel.redraw(local.size());
    else if (!isShown || writer.modes.alternate) void redraw();
  };
  const goOn = async () => {
    live.hold();
    const isShown = await show(opening.refresh);
    if (!isShown || writer.modes.alternate) void redraw();
  };
  const gaps = watchGaps(
    {
      read: async () => (await inTime(opening.refresh))?.bytes,
      isWhole: () => inTime(opening.isWhole),
    },
    () => void goOn(),
  );
  const rest: PauseWatch | undefined =
    opening.paused &&
    watchPause(
      {
        isPaused: opening.paused.isPaused,
        onChange(isPaused) {
          opening.paused?.onChange(isPaused);
          if (!isPaused) void goOn();
        },
      },
      signal,
    );
  const catchUp = async () => {
    for (const ms of LATE) {
      await pause(ms, over.signal);
      if (recording === undefined || over.signal.aborted || !live.isSilent) return;
      const recorded = await inTime(recording);
      if (recorded !== undefined) live.catchUp(recorded.bytes);
    }
  };
  const talk = async (): Promise<ChannelEnd> => {
    using _keys = readOnly ? undefined : local.keys.connect(channel.input);
    using _watch = watch;
    using _rest = rest;
    using _gaps = gaps;
    const begun = begin();
    void begun.then(catchUp);
    const lost = watch?.broken.catch((error: Error): ChannelEnd => ({ reason: 'lost', error }));
    const end = await Promise.race(lost === undefined ? [channel.closed] : [channel.closed, lost]);
    over.abort();
    if (end.reason === 'lost' || end.reason === 'closed') channel.close();
    else await begun;
    return end;
  };
  return {
    end: talk(),
    keysSent() {
      watch?.keysSent();
      rest?.keysSent();
    },
    redraw,
  };
}
