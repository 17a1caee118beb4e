/** A channel to a session over a stream that leads to dtach's socket, however it was opened. */
import { type Duplex, Readable, Writable } from 'node:stream';
import type { AttachOptions, ChannelEnd, SessionChannel } from '../backend/contract.ts';
import {
  attachPacket,
  PACKET_SIZE,
  PUSH_SIZE,
  pushPackets,
  redrawPacket,
  sizePacket,
} from '../wire/dtach.ts';

/**
 * Input bytes in one write. dtach takes a packet that it reads half for a whole one, so a write must reach it undivided:
 * a Unix socket takes what fits into one of its buffers whole or not at all.
 */
const PIECE = PUSH_SIZE * 400;

/** What leads to the session. */
export interface DtachLink {
  /** With no byte read or written. */
  readonly stream: Duplex;
  /** Asked once, when the other side has closed the stream. Never rejects. */
  howEnded(): Promise<ChannelEnd>;
  /** Called once, when the channel is over. */
  release(): void;
}

/** A channel, and the way to end it for a reason of our own. */
export interface OpenChannel {
  readonly channel: SessionChannel;
  end(reason: ChannelEnd): void;
}

/** Attaches over `link`. */
export function dtachChannel(link: DtachLink, options: AttachOptions): OpenChannel {
  const { stream, howEnded, release } = link;
  const { readOnly = false } = options;
  const output = new Readable({ read: () => undefined });
  const { promise: closed, resolve } = Promise.withResolvers<ChannelEnd>();
  let reason: ChannelEnd | undefined;
  let over = false;
  const send = (packet: Buffer) => {
    if (!over && stream.writable) stream.write(packet);
  };
  // Dtach serves its clients in turn and waits for each: whatever comes is taken at once.
  stream.on('data', (chunk: Buffer) => output.push(chunk));
  stream.on('end', () => stream.destroy());
  // What broke is told by the way the channel ends.
  stream.on('error', () => undefined);
  const onClose = async () => {
    over = true;
    output.push(null);
    input.destroy();
    const end = reason ?? (await howEnded());
    release();
    resolve(end);
  };
  const end = (why: ChannelEnd) => {
    if (over) return;
    over = true;
    reason = why;
    stream.destroy();
  };
  const input = new Writable({
    decodeStrings: true,
    write(chunk: Buffer, _encoding, done) {
      if (readOnly) done();
      else pushAll(stream, chunk, 0, done);
    },
  });
  // Keys for a session that is over go nowhere; its end is told by `closed`.
  input.on('error', () => undefined);
  // A session that ends while it is attached to has closed it already, and says so no more.
  if (stream.closed) void onClose();
  else stream.once('close', onClose);
  stream.write(
    readOnly ? attachPacket() : Buffer.concat([attachPacket(), redrawPacket(options.size)], 2 * PACKET_SIZE),
  );
  return {
    end,
    channel: {
      output,
      input,
      resize: (size) => (readOnly ? undefined : send(sizePacket(size))),
      redraw: (size) => (readOnly ? undefined : send(redrawPacket(size))),
      close: () => end({ reason: 'closed' }),
      closed,
    },
  };
}

/** Writes piece after piece, each when the one before has left. */
function pushAll(stream: Duplex, data: Buffer, from: number, done: (error?: Error | null) => void): void {
  const piece = data.subarray(from, from + PIECE);
  stream.write(pushPackets(piece), (error) => {
    if (error || from + PIECE >= data.length) done(error);
    else pushAll(stream, data, from + PIECE, done);
  });
}
