/** The two ends of a connection that carries frames: streams with windows, and messages. See wire/frames.ts. */
import { type Duplex, Readable, Writable } from 'node:stream';
import {
  creditFrame,
  FRAME_LIMIT,
  frameHeader,
  frameParser,
  MalformedFrame,
  messageFrame,
  WINDOW,
} from '../wire/frames.ts';

export interface FrameLink {
  /** What the other end writes to a stream. Asked for once, before its bytes come. */
  readable(stream: number): Readable;
  /** A stream to the other end. Ending it ends that stream alone. */
  writable(stream: number): Writable;
  send(message: object): void;
  /** Resolves when the connection is over; with the error that broke it. */
  readonly closed: Promise<Error | undefined>;
  /** Nothing more will be sent. */
  end(): void;
  destroy(error?: Error): void;
}

/** Begins to read `connection`. `onMessage` is called for each message, in order. */
export function frameLink(
  connection: Duplex,
  onMessage: (message: Readonly<Record<string, unknown>>) => void,
): FrameLink {
  const incoming = new Map<number, Incoming>();
  const outgoing = new Map<number, Outgoing>();
  const { promise: closed, resolve } = Promise.withResolvers<Error | undefined>();
  let failure: Error | undefined;
  let ended = false;
  const write = (...parts: readonly Buffer[]) => {
    if (!connection.writable) return;
    connection.cork();
    for (const part of parts) connection.write(part);
    connection.uncork();
  };
  const parse = frameParser({
    message: onMessage,
    credit: (stream, bytes) => outgoing.get(stream)?.grant(bytes),
    data: (stream, piece) => incoming.get(stream)?.take(piece),
    end: (stream) => incoming.get(stream)?.end(),
  });
  connection.on('data', (chunk: Buffer) => {
    try {
      parse(chunk);
    } catch (error) {
      connection.destroy(error as Error);
    }
  });
  connection.on('error', (error) => {
    failure ??= error;
  });
  connection.once('end', () => {
    ended = true;
    connection.end();
  });
  connection.once('close', () => {
    for (const each of incoming.values()) each.cut(failure);
    for (const each of outgoing.values()) each.cut(failure);
    resolve(failure ?? (ended ? undefined : new Error('the connection broke')));
  });
  return {
    readable(stream) {
      const made = incomingStream((bytes) => write(creditFrame(stream, bytes)));
      incoming.set(stream, made);
      return made.stream;
    },
    writable(stream) {
      const made = outgoingStream((chunk) => write(frameHeader(stream, chunk.length), chunk));
      outgoing.set(stream, made);
      return made.stream;
    },
    send: (message) => write(messageFrame(message)),
    closed,
    end: () => void connection.end(),
    destroy: (error) => void connection.destroy(error),
  };
}

interface Incoming {
  readonly stream: Readable;
  take(piece: Buffer): void;
  end(): void;
  /** The connection is over: what has not ended will not. */
  cut(error: Error | undefined): void;
}

/** Bytes that are given to a reader before it asks for more. */
const AHEAD = 64 * 1024;

function incomingStream(grant: (bytes: number) => void): Incoming {
  /** What has come and no reader has asked for. */
  const queue: Buffer[] = [];
  let queued = 0;
  /** Bytes that a reader took and the other end has no credit for yet. */
  let taken = 0;
  let wanted = true;
  let over = false;
  const hand = () => {
    for (let piece = queue[0]; wanted && piece !== undefined; piece = queue[0]) {
      queue.shift();
      queued -= piece.length;
      taken += piece.length;
      wanted = stream.push(piece);
    }
    if (over && queue.length === 0) stream.push(null);
    // Not in small change.
    if (over || taken < WINDOW / 4) return;
    grant(taken);
    taken = 0;
  };
  const stream: Readable = new Readable({
    highWaterMark: AHEAD,
    read() {
      wanted = true;
      hand();
    },
  });
  // Whoever reads it hears of the failure; nobody reading is no crash.
  stream.on('error', () => undefined);
  return {
    stream,
    take(piece) {
      if (stream.destroyed) {
        // Nobody reads it any more, and the other end must not wait for that.
        grant(piece.length);
        return;
      }
      queued += piece.length;
      if (queued > WINDOW) throw new MalformedFrame('more than the window holds');
      queue.push(piece);
      hand();
    },
    end() {
      over = true;
      if (!stream.destroyed) hand();
    },
    cut(error) {
      if (over) return;
      over = true;
      stream.destroy(error ?? Object.assign(new Error('the connection broke'), { code: 'ECONNRESET' }));
    },
  };
}

interface Outgoing {
  readonly stream: Writable;
  grant(bytes: number): void;
  cut(error: Error | undefined): void;
}

function outgoingStream(send: (chunk: Buffer) => void): Outgoing {
  let credit = WINDOW;
  let waiting: { rest: Buffer; readonly done: (error?: Error | null) => void } | undefined;
  let broken: Error | undefined;
  const pump = () => {
    while (waiting !== undefined && credit > 0) {
      const { rest, done } = waiting;
      const chunk = rest.subarray(0, Math.min(credit, FRAME_LIMIT));
      credit -= chunk.length;
      send(chunk);
      waiting = chunk.length < rest.length ? { rest: rest.subarray(chunk.length), done } : undefined;
      if (waiting === undefined) done();
    }
  };
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (broken !== undefined) return done(broken);
      if (chunk.length === 0) return done();
      waiting = { rest: chunk, done };
      pump();
    },
    final(done) {
      if (broken === undefined) send(Buffer.alloc(0));
      done();
    },
  });
  return {
    stream,
    grant(bytes) {
      credit += bytes;
      pump();
    },
    cut(error) {
      broken = error ?? Object.assign(new Error('the other side is closed'), { code: 'EPIPE' });
      const { done } = waiting ?? {};
      waiting = undefined;
      done?.(broken);
    },
  };
}
