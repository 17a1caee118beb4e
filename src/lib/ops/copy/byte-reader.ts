import { SbxError } from '../../errors.ts';

/** Reads a stream of chunks in the pieces that a format needs. */
export interface ByteReader {
  /** Exactly `count` bytes; undefined when the stream ended before the first of them. @throws SbxError when it is cut in between. */
  exactly(count: number): Promise<Buffer | undefined>;
  /** At least one byte and at most `most`, without copying. @throws SbxError when the stream has ended. */
  some(most: number): Promise<Buffer>;
  /** Reads to the end and throws the bytes away, so that a failure at the other end is seen. */
  drain(): Promise<void>;
  /** Tells the source that no more is wanted. */
  close(): Promise<void>;
}

export function byteReader(source: AsyncIterable<Uint8Array>): ByteReader {
  const chunks = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  let ended = false;

  const next = async (): Promise<Buffer | undefined> => {
    const result = await chunks.next();
    if (result.done) {
      ended = true;
      return undefined;
    }
    const { buffer, byteOffset, byteLength } = result.value;
    return Buffer.from(buffer, byteOffset, byteLength);
  };

  return {
    async exactly(count) {
      const parts: Buffer[] = [rest];
      let have = rest.length;
      while (have < count) {
        const chunk = await next();
        if (chunk === undefined) {
          if (have === 0) return undefined;
          throw cut();
        }
        parts.push(chunk);
        have += chunk.length;
      }
      const all = parts.length === 1 ? rest : Buffer.concat(parts);
      rest = all.subarray(count);
      return all.subarray(0, count);
    },
    async some(most) {
      while (rest.length === 0) {
        const chunk = await next();
        if (chunk === undefined) throw cut();
        rest = chunk;
      }
      const piece = rest.subarray(0, most);
      rest = rest.subarray(piece.length);
      return piece;
    },
    async drain() {
      rest = Buffer.alloc(0);
      while ((await next()) !== undefined);
    },
    async close() {
      if (!ended) await chunks.return?.();
    },
  };
}

/** The error of an archive that ends too early. */
export function cut(): SbxError {
  return new SbxError('failed', 'the tar stream ends too early: it is cut', {
    hint: 'copy again; nothing was put in place',
  });
}
