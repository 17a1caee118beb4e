/**
 * Takes out of a terminal's output what dtach's own client and the program around it add: everything up to the
 * clearing of the screen, and from the last words on. Pure.
 */

const CLEARED = Buffer.from('\x1b[H\x1b[J');
/** How every last word of dtach begins. */
const LAST_WORDS = Buffer.from('\x1b[999H\r\n[');
const LONGEST_END = 256;

/** What a piece of output came to. */
export interface Filtered {
  /** What the session has printed. */
  readonly output: Buffer;
  /** What the program around dtach said at the end, once it is there. */
  readonly report: string | undefined;
}

/** A filter for pieces of any length. `mark` begins the line that the program around dtach says. */
export function attachFilter(mark: string): (piece: Uint8Array) => Filtered {
  let held: Buffer = Buffer.alloc(0);
  let begun = false;
  let report: string | undefined;
  const line = Buffer.from(`${mark} `);
  return (piece) => {
    held = Buffer.concat([held, piece]);
    if (report !== undefined) return { output: Buffer.alloc(0), report };
    if (!begun) {
      const at = held.indexOf(CLEARED);
      if (at >= 0) {
        begun = true;
        held = held.subarray(at + CLEARED.length);
      }
    }
    // The line may come without dtach's words, and before its output.
    const said = held.indexOf(line);
    if (said >= 0) {
      const lineEnd = held.indexOf(0x0a, said);
      const words = held.lastIndexOf(LAST_WORDS, said);
      const output = begun
        ? held.subarray(0, words >= 0 && said - words < LONGEST_END ? words : said)
        : Buffer.alloc(0);
      if (lineEnd < 0) {
        held = held.subarray(begun ? output.length : 0);
        return { output, report: undefined };
      }
      report = held.toString('latin1', said, lineEnd + 1);
      return { output, report };
    }
    if (!begun) return { output: Buffer.alloc(0), report: undefined };
    const keep = heldFrom(held);
    const output = held.subarray(0, keep);
    held = held.subarray(keep);
    return { output, report: undefined };
  };
}

/** Where in `bytes` that begins which may be last words; the length of `bytes` where nothing does. */
function heldFrom(bytes: Buffer): number {
  const at = bytes.lastIndexOf(LAST_WORDS);
  if (at >= 0 && bytes.length - at < LONGEST_END) return at;
  for (let size = Math.min(LAST_WORDS.length - 1, bytes.length); size > 0; size--) {
    if (bytes.subarray(bytes.length - size).equals(LAST_WORDS.subarray(0, size))) return bytes.length - size;
  }
  return bytes.length;
}
