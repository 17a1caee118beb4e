/** Finds a mark in bytes that come in pieces. */

/** What of a piece, and of what was held back before it, comes before the mark; `after` once the mark was seen. */
export interface Cut {
  readonly before: Buffer;
  readonly after?: Buffer;
}

/** What may be the beginning of the mark is held back until it is known. */
export function cutAt(mark: string): (piece: Buffer) => Cut {
  const wanted = Buffer.from(mark, 'latin1');
  let held: Buffer = Buffer.alloc(0);
  return (piece) => {
    const all = held.length === 0 ? piece : Buffer.concat([held, piece]);
    const at = all.indexOf(wanted);
    if (at >= 0) return { before: all.subarray(0, at), after: all.subarray(at + wanted.length) };
    const from = beginningAt(all, wanted);
    held = Buffer.from(all.subarray(from));
    return { before: all.subarray(0, from) };
  };
}

/** Where the longest end of `data` that `wanted` begins with is. */
function beginningAt(data: Buffer, wanted: Buffer): number {
  for (let at = Math.max(0, data.length - wanted.length + 1); at < data.length; at++) {
    if (wanted.subarray(0, data.length - at).equals(data.subarray(at))) return at;
  }
  return data.length;
}
