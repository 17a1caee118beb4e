/**
 * Notices output that never came. Of several clients dtach waits for the quickest only, and passes over one that has not
 * read by then; so what came is compared with the recording once a flood is over.
 */
import { lastBytes } from './last-bytes.ts';

/** Bytes without a break after which some may have been left out: what waits for a client is more at the least. */
const FLOOD = 1 << 15;
/** Milliseconds without output that end a flood. */
const QUIET = 250;
/** Milliseconds that a recorder may be late. */
const RECORDER_DUE = 750;
/** Bytes that are compared. */
const COMPARED = 1 << 13;

/** The watch over one connection. */
export interface GapWatch extends Disposable {
  outputSeen(bytes: Uint8Array): void;
}

/** What is known of the recording; undefined when it cannot be had. */
export interface RecordingLook {
  /** Its end. */
  readonly read: () => Promise<Uint8Array | undefined>;
  /** Whether it has all that was printed. Where it has not, it may have stopped, on a full disk. */
  readonly isWhole: () => Promise<boolean | undefined>;
}

/** Calls `onGap` when the recording ends with something else than what came last. */
export function watchGaps({ read, isWhole }: RecordingLook, onGap: () => void): GapWatch {
  const last = lastBytes(COMPARED);
  let total = 0;
  let flood = 0;
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const look = async (again: boolean) => {
    const before = total;
    const recorded = Buffer.from((await read()) ?? []);
    // More has come meanwhile, which is looked at when it is over.
    if (isOver || total !== before) return;
    const seen = last.bytes.subarray(-(recorded.length || 1));
    const isThere = recorded.subarray(-seen.length).equals(seen);
    if (!isThere && !again) {
      timer = setTimeout(look, RECORDER_DUE, true);
      return;
    }
    flood = 0;
    if (isThere || recorded.length === 0) return;
    // One that has stopped does not have what came last. What came behind a gap is not found either when it is short.
    const isGap = isIn(recorded, seen) || (await isWhole()) === true;
    if (isGap && !isOver && total === before) onGap();
  };
  const onQuiet = () => {
    if (flood >= FLOOD) void look(false);
    else flood = 0;
  };
  const quiet = setTimeout(onQuiet, QUIET);
  return {
    outputSeen(bytes) {
      last.add(bytes);
      total += bytes.length;
      flood += bytes.length;
      clearTimeout(timer);
      quiet.refresh();
    },
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
      clearTimeout(quiet);
    },
  };
}

/** Whether the last bytes that came are anywhere in the recording. */
function isIn(recorded: Buffer, seen: Buffer): boolean {
  return recorded.includes(seen.subarray(-64));
}
