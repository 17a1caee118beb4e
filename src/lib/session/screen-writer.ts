/**
 * Writes the output of a session to the local terminal, which may stall, without ever holding up the session: what it
 * does not take waits up to a bound, then the older part is dropped and the screen is made right when it takes again.
 */
import { hasErrno } from '../errors.ts';
import { formatSize } from '../util/size.ts';
import { createModes, type Modes } from './modes.ts';
import { cleanStart, createCleaner } from './replay.ts';
import type { Screen } from './terminal-size.ts';

/** Bytes that may wait for the terminal. */
export const MOST_WAITING = 1 << 20;
/** Bytes that are kept when that many wait. */
const KEPT = 1 << 19;
/** Bytes that are given to the stream at once. */
const AT_ONCE = 1 << 16;
const LINE_FEED = 0x0a;

/** The local terminal as an output. */
export interface ScreenWriter extends Disposable {
  /** The modes that what was written has put on. */
  readonly modes: Modes;
  /** Output of the session. */
  write(bytes: Uint8Array): void;
  /** Whether the last byte was the end of a line, or there was none. */
  readonly isAtLineStart: boolean;
  /** Resolves when everything has left, or the terminal has gone, or after `ms` milliseconds. */
  flush(ms: number): Promise<void>;
  /** Resolves when the terminal has gone. */
  readonly gone: Promise<void>;
}

/**
 * Takes `screen` over until disposed. `onDropped` is called when something was left out, so that a full-screen program
 * can be asked to draw itself again.
 */
export function createScreenWriter(screen: Screen, onDropped: () => void): ScreenWriter {
  const modes = createModes();
  let waiting: Buffer[] = [];
  let bytesWaiting = 0;
  let underWay = 0;
  let lastByte = LINE_FEED;
  let dropped: Modes | undefined;
  let bytesDropped = 0;
  let isGone = false;
  const { promise: gone, resolve: goneNow } = Promise.withResolvers<void>();
  let idle: (() => void) | undefined;

  const onError = (error: Error) => {
    if (!hasErrno(error, 'EIO', 'EPIPE', 'EBADF', 'ENXIO', 'ERR_STREAM_DESTROYED')) throw error;
    isGone = true;
    waiting = [];
    bytesWaiting = 0;
    goneNow();
    idle?.();
  };
  screen.on('error', onError);
  setBlocking(screen, false);
  const onExit = () => {
    setBlocking(screen, true);
    screen.write(modes.off());
  };
  process.once('exit', onExit);

  const give = (bytes: Buffer) => {
    modes.feed(bytes);
    lastByte = bytes.at(-1) ?? lastByte;
    underWay += bytes.length;
    screen.write(bytes, (error) => {
      underWay -= bytes.length;
      if (!error) next();
    });
  };
  const next = () => {
    while (!isGone && waiting.length > 0 && underWay < AT_ONCE) {
      if (dropped !== undefined) catchUp(dropped);
      const chunk = waiting.shift();
      if (chunk === undefined) break;
      const now = chunk.subarray(0, AT_ONCE);
      if (chunk.length > now.length) waiting.unshift(chunk.subarray(now.length));
      bytesWaiting -= now.length;
      give(now);
    }
    if (underWay === 0 && waiting.length === 0) idle?.();
  };
  /** Goes on behind what was dropped: with the modes that the program had there, from where a line begins. */
  const catchUp = (before: Modes) => {
    dropped = undefined;
    const tail = Buffer.concat(waiting);
    const gap = before.alternate ? '' : `\x1b[2m[${formatSize(bytesDropped)} not shown]\x1b[m\r\n`;
    bytesDropped = 0;
    const prefix = `${modes.off()}\x1b[m\x1b[H\x1b[2J${gap}${before.shownOn()}`;
    const cleaner = createCleaner();
    const shown = cleaner.feed(tail.subarray(cleanStart(tail)));
    before.feed(tail);
    waiting = [Buffer.concat([Buffer.from(prefix), shown, Buffer.from(before.inputOn()), cleaner.rest])];
    bytesWaiting = waiting[0]?.length ?? 0;
    onDropped();
  };
  const dropOld = () => {
    dropped ??= modesLike(modes);
    while (bytesWaiting > KEPT) {
      const chunk = waiting.shift() ?? Buffer.alloc(0);
      bytesWaiting -= chunk.length;
      bytesDropped += chunk.length;
      dropped.feed(chunk);
    }
  };

  return {
    modes,
    gone,
    get isAtLineStart() {
      return lastByte === LINE_FEED;
    },
    write(bytes) {
      if (isGone || bytes.length === 0) return;
      const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      if (waiting.length === 0 && underWay < AT_ONCE) return give(chunk);
      waiting.push(chunk);
      bytesWaiting += chunk.length;
      if (bytesWaiting > MOST_WAITING) dropOld();
    },
    async flush(ms) {
      if (isGone || (underWay === 0 && waiting.length === 0)) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      idle = resolve;
      await promise;
      clearTimeout(timer);
      idle = undefined;
    },
    [Symbol.dispose]() {
      process.off('exit', onExit);
      setBlocking(screen, true);
      screen.off('error', onError);
    },
  };
}

/** A copy, as far as modes can be put on. */
function modesLike(modes: Modes): Modes {
  const copy = createModes();
  copy.feed(Buffer.from(modes.on()));
  return copy;
}

/** Node writes to terminals so that it waits for them, and for as long would read no more of the session and of keys. */
function setBlocking(screen: Screen, blocking: boolean): void {
  const { _handle } = screen as { readonly _handle?: { setBlocking?(blocking: boolean): unknown } | null };
  _handle?.setBlocking?.(blocking);
}
