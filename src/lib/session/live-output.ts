/** Joins a recording and what comes over the connection into one output: nothing twice and nothing left out. */
import { CERTAIN, overlapOf } from './align.ts';
import { lastBytes } from './last-bytes.ts';
import { createModes } from './modes.ts';
import { cleanStart, createCleaner } from './replay.ts';

/** Bytes that wait for the recording; a session that prints more meanwhile has overtaken it. */
const MOST_WAITING = 1 << 20;

/** Bytes at the end of a recording by which it is found in a longer one. */
const SOUGHT = 4096;

/** Bytes that were shown last, which a recorder that is late may not have written yet. */
const REMEMBERED = 1 << 13;

/** What comes over one connection. */
export interface LiveOutput {
  /** Bytes of the connection; they wait until {@link LiveOutput.begin}. */
  take(bytes: Uint8Array): void;
  /** Prints a recording that was asked for after the connection was there, and goes on behind it. Without one just goes on. */
  begin(recorded?: Recording): void;
  /** Has bytes wait once more, until the next {@link LiveOutput.begin}, which a late recorder does not set back. */
  hold(): void;
  /** Whether nothing has come over the connection yet. */
  readonly isSilent: boolean;
  /**
   * Prints what the recording has besides, now that it was read once more. Only while the connection is silent: dtach
   * throws away what is printed while nobody is attached, and a recorder may be a moment late with it.
   */
  catchUp(recorded: Uint8Array): void;
}

/** The end of what a session has printed. */
export interface Recording {
  readonly bytes: Uint8Array;
  /** Whether there was more before. */
  readonly isCut: boolean;
  /** What is to be printed before it. */
  readonly prefix: string;
}

/** Prints by `write`. */
export function createLiveOutput(write: (bytes: Uint8Array) => void): LiveOutput {
  let waiting: Buffer[] | undefined = [];
  let bytesWaiting = 0;
  let expected: Uint8Array = Buffer.alloc(0);
  let isSilent = true;
  let isHeld = false;
  let last = lastBytes(REMEMBERED);
  const open = () => {
    const all = waiting ?? [];
    waiting = undefined;
    for (const chunk of all) print(chunk);
  };
  /** Leaves out what the recording had already. If something else comes, nothing more is in common. */
  const print = (bytes: Uint8Array) => {
    const common = commonStart(expected, bytes);
    const goesOn = common === bytes.length && common < expected.length;
    expected = goesOn ? expected.subarray(common) : Buffer.alloc(0);
    if (common === bytes.length) return;
    const rest = common === 0 ? bytes : bytes.subarray(common);
    last.add(rest);
    write(rest);
  };
  return {
    get isSilent() {
      return isSilent;
    },
    take(bytes) {
      isSilent = false;
      if (waiting === undefined) return print(bytes);
      waiting.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
      bytesWaiting += bytes.length;
      if (bytesWaiting > MOST_WAITING) open();
    },
    begin(recorded) {
      if (waiting === undefined) return;
      if (recorded !== undefined && recorded.bytes.length > 0) {
        const bytes = isHeld
          ? Buffer.concat([recorded.bytes, unrecorded(recorded, last.bytes)])
          : recorded.bytes;
        const overlap = overlapOf(bytes, Buffer.concat(waiting));
        expected = bytes.subarray(bytes.length - overlap);
        last = lastBytes(REMEMBERED);
        last.add(bytes);
        write(replayOf({ ...recorded, bytes }));
      }
      open();
    },
    hold() {
      isHeld = true;
      waiting ??= [];
      bytesWaiting = 0;
    },
    catchUp(recorded) {
      // Nothing but a recording was shown.
      const known = last.bytes;
      const from = known.length === 0 ? 0 : endIn(recorded, known);
      if (!isSilent || from === undefined || from === recorded.length) return;
      expected = recorded.subarray(from);
      last.add(expected);
      write(replayOf({ bytes: expected, isCut: false, prefix: '' }));
    },
  };
}

/**
 * What of `seen`, which was shown last, comes behind the recording. A prompt may stand in it more than once: the recording ends
 * where all before is the same, and unless it was cut it holds all of that.
 */
function unrecorded({ bytes, isCut }: Recording, seen: Buffer): Buffer {
  const recorded = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const latest = isCut ? seen.length : Math.min(seen.length, recorded.length);
  for (let end = latest; end > 0; end--) {
    const common = Math.min(end, recorded.length);
    if (common < CERTAIN && (isCut || common < recorded.length)) break;
    if (recorded.compare(seen, end - common, end, recorded.length - common) === 0) return seen.subarray(end);
  }
  return Buffer.alloc(0);
}

/** Where in `longer` the end of `shorter` is; undefined when it is not there. */
function endIn(longer: Uint8Array, shorter: Uint8Array): number | undefined {
  const end = Buffer.from(shorter.subarray(-SOUGHT));
  const at = Buffer.from(longer.buffer, longer.byteOffset, longer.length).lastIndexOf(end);
  return at < 0 ? undefined : at + end.length;
}

/** A recording as it may be printed; input modes are put on at its end only, so that no mouse is heard in between. */
function replayOf({ bytes, isCut, prefix }: Recording): Buffer {
  const from = isCut ? bytes.subarray(cleanStart(bytes)) : bytes;
  const cleaner = createCleaner();
  const modes = createModes();
  modes.feed(from);
  return Buffer.concat([Buffer.from(prefix), cleaner.feed(from), Buffer.from(modes.inputOn()), cleaner.rest]);
}

function commonStart(one: Uint8Array, other: Uint8Array): number {
  const most = Math.min(one.length, other.length);
  for (let at = 0; at < most; at++) if (one[at] !== other[at]) return at;
  return most;
}
