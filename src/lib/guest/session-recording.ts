/** What `script` adds to a recording, taken out again. */

/** Longest end of a recording that can be its own. */
const LONGEST = 160;

/**
 * A recording without the line that `script` writes when the shell has ended, which stands there until the supervisor
 * has cut it off. It has bare line feeds, where a terminal's output has them after carriage returns.
 */
export function withoutLastWords(recording: Buffer): Buffer {
  const from = Math.max(0, recording.length - LONGEST);
  const words = /\nScript done on [^\r\n]*\]\n$/.exec(recording.toString('latin1', from));
  return words === null ? recording : recording.subarray(0, from + words.index);
}
