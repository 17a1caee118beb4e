/** Follows what a session shows without touching it, at a cost that does not grow with what it prints. */
import type { Call, SessionChannel, SessionInfo, Sessions } from '../../backend/contract.ts';
import { overlapOf } from '../../session/align.ts';
import { pause } from '../../util/pause.ts';

/** Where it is shown. */
export interface FollowSink {
  /** What is written next, even if that is nothing, begins on an empty screen. */
  clear(): void;
  /** Resolves once the bytes are drawn. */
  write(data: Uint8Array): Promise<void>;
}

/** Bytes of the recording that a screen is drawn from: a full-screen program in colour needs some tens of thousands. */
const REPLAY_BYTES = 128 * 1024;
/** Bytes that are drawn at once, and the least time from one such piece to the next. */
const PIECE_BYTES = 16 * 1024;
const PIECE_GAP_MS = 33;
/** A session that is so many bytes ahead floods: it is looked at now and then instead. */
const FLOOD_BYTES = 256 * 1024;
const GLANCE_BYTES = 16 * 1024;
const GLANCE_GAP_MS = 500;
/** Equal looks in a row that are believed, whatever it did before. */
const MOST_QUIET = 5;
/** Before a link that broke is tried again. */
const RETRY_MS = 1000;

/**
 * Shows the session until its shell ends or the call is given up, which is no error. Of one that has ended, shows the
 * end of its recording.
 * @throws SbxError when it can no longer be looked at.
 */
export async function followSession(
  sessions: Sessions,
  { name, state, size }: Pick<SessionInfo, 'name' | 'state' | 'size'>,
  sink: FollowSink,
  call: Call,
): Promise<void> {
  try {
    if (state === 'ended') {
      await draw(sink, tidy(await sessions.recording(name, REPLAY_BYTES, call), REPLAY_BYTES), call);
      return;
    }
    for (let floods = 0; ; ) {
      const options = { size: size ?? { cols: 80, rows: 24 }, readOnly: true };
      const end = await watch(sessions, name, await sessions.attach(name, options, call), sink, call);
      if (end === 'ended' || call.signal.aborted) return;
      if (end === 'flood') await glance(sessions, name, ++floods, sink, call);
      else await pause(RETRY_MS, call.signal);
    }
  } catch (error) {
    if (!call.signal.aborted) throw error;
  }
}

/** Draws the recording, then what comes. The channel is read all the time, whatever drawing does. */
async function watch(
  sessions: Sessions,
  name: string,
  channel: SessionChannel,
  sink: FollowSink,
  call: Call,
): Promise<'ended' | 'flood' | 'broken'> {
  const inbox = openInbox(channel);
  const leave = () => channel.close();
  call.signal.addEventListener('abort', leave);
  try {
    if (call.signal.aborted) return 'ended';
    const recorded = await sessions.recording(name, REPLAY_BYTES, call);
    // What came since the channel was opened stands in the recording too.
    inbox.skip(overlapOf(recorded, inbox.bytes()));
    sink.clear();
    await draw(sink, tidy(recorded, REPLAY_BYTES), call);
    while (!call.signal.aborted) {
      await inbox.filled();
      if (inbox.flooded()) return 'flood';
      const piece = inbox.take(PIECE_BYTES);
      if (piece.length === 0) break;
      await sink.write(piece);
      await pause(PIECE_GAP_MS, call.signal);
    }
    return call.signal.aborted || (await channel.closed).reason === 'ended' ? 'ended' : 'broken';
  } finally {
    call.signal.removeEventListener('abort', leave);
    channel.close();
  }
}

/**
 * Looks at the end of the recording now and then, until the session is quiet again.
 * @param floods times that it has flooded: a flood of equal lines looks quiet, so each time it has to look so for longer.
 */
async function glance(
  sessions: Sessions,
  name: string,
  floods: number,
  sink: FollowSink,
  call: Call,
): Promise<void> {
  let last: Uint8Array | undefined;
  let quiet = 0;
  while (!call.signal.aborted) {
    const recorded = await sessions.recording(name, GLANCE_BYTES, call);
    quiet = last !== undefined && Buffer.compare(last, recorded) === 0 ? quiet + 1 : 0;
    if (quiet >= Math.min(floods, MOST_QUIET)) return;
    last = recorded;
    sink.clear();
    await draw(sink, tidy(recorded, GLANCE_BYTES), call);
    await pause(GLANCE_GAP_MS, call.signal);
  }
}

async function draw(sink: FollowSink, data: Uint8Array, call: Call): Promise<void> {
  let at = 0;
  do {
    await sink.write(data.subarray(at, at + PIECE_BYTES));
    at += PIECE_BYTES;
  } while (at < data.length && !call.signal.aborted);
}

/** What a channel has brought and nobody has drawn yet, bounded. */
function openInbox(channel: SessionChannel) {
  let chunks: Buffer[] = [];
  let size = 0;
  let unwanted = 0;
  let flooded = false;
  let over = false;
  let wake = Promise.withResolvers<void>();
  channel.output.on('data', (chunk: Buffer) => {
    if (flooded) return;
    const wanted = chunk.subarray(unwanted);
    unwanted -= chunk.length - wanted.length;
    chunks.push(wanted);
    size += wanted.length;
    flooded = size > FLOOD_BYTES;
    if (flooded) {
      chunks = [];
      channel.close();
    }
    wake.resolve();
  });
  // How it ended is told by `closed`; an error event that nobody hears would end this process.
  channel.output.on('error', () => wake.resolve());
  void channel.closed.then(() => {
    over = true;
    wake.resolve();
  });
  const bytes = () => {
    const all = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
    chunks = [all];
    return all;
  };
  const drop = (count: number) => {
    chunks = [bytes().subarray(count)];
    size -= count;
  };
  return {
    bytes,
    /** Throws so many bytes away, those that are still to come too. */
    skip(count: number) {
      unwanted = Math.max(0, count - size);
      drop(Math.min(count, size));
    },
    flooded: () => flooded,
    /** Resolves when there is something, or never will be. */
    async filled() {
      while (size === 0 && !over && !flooded) {
        await wake.promise;
        wake = Promise.withResolvers();
      }
    },
    take(most: number): Buffer {
      const piece = bytes().subarray(0, most);
      drop(piece.length);
      return piece;
    },
  };
}

const NEWLINE = 0x0a;
/** Within so many bytes a cut recording is given the chance to begin with a whole line. */
const FIRST_LINE = 4096;

/** A recording that was cut begins anywhere, also inside a code: it starts with its first whole line then. */
function tidy(recorded: Uint8Array, asked: number): Uint8Array {
  if (recorded.length < asked) return recorded;
  const at = recorded.subarray(0, FIRST_LINE).indexOf(NEWLINE);
  return at < 0 ? recorded : recorded.subarray(at + 1);
}
