/** Where a recording and what came over a connection meanwhile fit together, so that nothing is printed twice. */

/** Fewer equal bytes than this may be chance. */
export const CERTAIN = 16;
const LIKELY = 4;
const SOUGHT = 1 << 16;

/**
 * How many bytes of what comes over the connection are in the recording already, counted from the first of `live`.
 * It is more than `live` has when the recording is ahead; those that follow can then be compared with its end.
 */
export function overlapOf(recorded: Uint8Array, live: Uint8Array): number {
  const pattern = live.subarray(0, SOUGHT);
  if (pattern.length === 0 || recorded.length === 0) return 0;
  const text = recorded.subarray(Math.max(0, recorded.length - 2 * SOUGHT));
  const borders = bordersOf(pattern);
  let matched = 0;
  let whole: number | undefined;
  for (let at = 0; at < text.length; at++) {
    if (matched === pattern.length) matched = borders[matched - 1] ?? 0;
    while (matched > 0 && pattern[matched] !== text[at]) matched = borders[matched - 1] ?? 0;
    if (pattern[matched] === text[at]) matched += 1;
    if (matched === pattern.length) whole = text.length - (at + 1 - pattern.length);
  }
  if (matched === pattern.length || matched >= CERTAIN) return matched;
  if (whole !== undefined && pattern.length >= CERTAIN) return whole;
  return matched >= LIKELY ? matched : 0;
}

/** For every beginning of `pattern` the length of the longest shorter beginning that it ends with. */
function bordersOf(pattern: Uint8Array): Uint32Array {
  const borders = new Uint32Array(pattern.length);
  let length = 0;
  for (let at = 1; at < pattern.length; at++) {
    while (length > 0 && pattern[length] !== pattern[at]) length = borders[length - 1] ?? 0;
    if (pattern[length] === pattern[at]) length += 1;
    borders[at] = length;
  }
  return borders;
}
