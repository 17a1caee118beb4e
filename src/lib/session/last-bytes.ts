/** The bytes that came last; nothing is copied before they are asked for. */
export interface LastBytes {
  add(bytes: Uint8Array): void;
  readonly bytes: Buffer;
}

/** Keeps `limit` bytes. */
export function lastBytes(limit: number): LastBytes {
  /** Of the first a part is needed at most. */
  const chunks: Uint8Array[] = [];
  let kept = 0;
  return {
    add(bytes) {
      chunks.push(bytes);
      kept += bytes.length;
      while (kept - (chunks[0]?.length ?? 0) >= limit) kept -= chunks.shift()?.length ?? 0;
    },
    get bytes() {
      return Buffer.concat(chunks).subarray(-limit);
    },
  };
}
