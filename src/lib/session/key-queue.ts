/** Keys on their way to the session: in order, each handed over once, kept while there is no connection. */
import type { Writable } from 'node:stream';

/** Bytes that are handed over at once. */
const AT_ONCE = 1 << 16;
/** Bytes that may wait for a program that does not read. */
export const MOST_WAITING = 1 << 23;
/** Bytes that are kept after a connection was lost; more than that is not taken, so that the way out is still heard. */
export const MOST_KEPT = 1 << 20;

/** Keys that wait. */
export interface KeyQueue {
  push(bytes: Uint8Array): void;
  /** Hands keys to `sink` until the result is disposed; what it has been given is never given again. */
  connect(sink: Writable): Disposable;
  /** Whether more may be read from the terminal. */
  readonly hasRoom: boolean;
  /** Bytes that nobody has been given. */
  readonly length: number;
}

/** `onRoom` is called when a queue that had no room has it again. */
export function createKeyQueue(onRoom: () => void): KeyQueue {
  const waiting: Uint8Array[] = [];
  let length = 0;
  let sink: Writable | undefined;
  let wasConnected = false;
  let isBlocked = false;
  let wasFull = false;
  const isDown = () => sink === undefined && wasConnected;
  const hasRoom = () => length < MOST_WAITING;
  const next = () => {
    while (sink !== undefined && !isBlocked && waiting.length > 0) {
      const chunk = waiting.shift() ?? new Uint8Array();
      const now = chunk.subarray(0, AT_ONCE);
      if (chunk.length > now.length) waiting.unshift(chunk.subarray(now.length));
      length -= now.length;
      isBlocked = !sink.write(now);
    }
    if (wasFull && hasRoom()) {
      wasFull = false;
      onRoom();
    }
  };
  const onDrain = () => {
    isBlocked = false;
    next();
  };
  return {
    get hasRoom() {
      return hasRoom();
    },
    get length() {
      return length;
    },
    push(bytes) {
      if (bytes.length === 0 || (isDown() && length + bytes.length > MOST_KEPT)) return;
      waiting.push(bytes);
      length += bytes.length;
      next();
      wasFull = !hasRoom();
    },
    connect(target) {
      sink = target;
      wasConnected = true;
      isBlocked = target.writableNeedDrain;
      target.on('drain', onDrain);
      next();
      return {
        [Symbol.dispose]() {
          target.off('drain', onDrain);
          if (sink === target) sink = undefined;
        },
      };
    },
  };
}
