/** What happens over one connection to a session, from when it is there until it ends. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Call, ChannelEnd, SessionChannel, TerminalSize } from '../backend/contract.ts';
import { pause } from '../util/pause.ts';
import type { KeyQueue } from './key-queue.ts';
import { type LinkWatch, watchLink } from './link-watch.ts';
import { createLiveOutput, type Recording } from './live-output.ts';
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
}

/** What a connection begins with. */
export interface Opening {
  readonly channel: SessionChannel;
  readonly readOnly: boolean;
  /** The end of what was printed before; undefined where it is not wanted or there is none. */
  readonly recording: ((call: Call) => Promise<Recording | undefined>) | undefined;
}

/** Milliseconds that the recording may take; then the session goes on without. */
const RECORDING_DUE = 5000;

/** Milliseconds between looks at the recording as long as nothing comes over the connection. */
const LATE = [50, 150, 500, 2000];

/** Connects the local side with a channel. */
export function converse({ channel, readOnly, recording }: Opening, local: LocalSide): Conversation {
  const { writer, signal } = local;
  const over = new AbortController();
  const live = createLiveOutput((bytes) => writer.write(bytes));
  const watch: LinkWatch | undefined =
    channel.probe && watchLink((call) => channel.probe?.(call) ?? Promise.resolve(), signal);
  channel.output.on('data', (bytes: Uint8Array) => {
    live.take(bytes);
    watch?.outputSeen();
  });
  // How the channel ended tells what is wrong with its streams.
  for (const stream of [channel.output, channel.input]) stream.on('error', () => undefined);

  const read = async (): Promise<Recording | undefined> => {
    const due = AbortSignal.timeout(RECORDING_DUE);
    try {
      return await recording?.({ signal: AbortSignal.any([signal, due]) });
    } catch (error) {
      // A connection that is lost says so itself; and one that is not is worth more than what was printed before.
      if (!(error instanceof Error)) throw error;
      return undefined;
    }
  };
  const begin = async () => {
    const recorded = await read();
    // What is here by now belongs to what the recording may have already.
    await nextTurn();
    live.begin(recorded);
    if (readOnly) return;
    const isEmpty = recorded === undefined || recorded.bytes.length === 0;
    if (isEmpty || writer.modes.alternate) channel.redraw(local.size());
  };
  const catchUp = async () => {
    for (const ms of LATE) {
      await pause(ms, over.signal);
      if (recording === undefined || over.signal.aborted || !live.isSilent) return;
      const recorded = await read();
      if (recorded !== undefined) live.catchUp(recorded.bytes);
    }
  };
  const talk = async (): Promise<ChannelEnd> => {
    using _keys = readOnly ? undefined : local.keys.connect(channel.input);
    using _watch = watch;
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
    keysSent: () => watch?.keysSent(),
  };
}
