/** The chunked coding of HTTP bodies: RFC 9112, section 7.1. Data is handed on as views, in the pieces it arrives in. */

/** Takes the next bytes of the connection; true once the body is over. Throws where they are not chunked. */
export type ChunkedParser = (bytes: Uint8Array) => boolean;

/** Longest line between data: a length with its extensions, or a trailer. */
const LINE_LIMIT = 16 * 1024;
const NEWLINE = 0x0a;

/** A parser that tells each piece of data. Extensions and trailers are skipped. */
export function chunkedParser(onData: (piece: Uint8Array) => void): ChunkedParser {
  /** What the next line is: a length, the end of a chunk, or a trailer. */
  let expected: 'length' | 'end of chunk' | 'trailer' | 'nothing' = 'length';
  let line = '';
  let left = 0;
  const take = (text: string) => {
    if (expected === 'length') {
      left = lengthOf(text);
      expected = left === 0 ? 'trailer' : 'end of chunk';
    } else if (expected === 'end of chunk') {
      if (text !== '') throw new Error('a chunk is longer than it said');
      expected = 'length';
    } else if (text === '') {
      expected = 'nothing';
    }
  };
  return (bytes) => {
    for (let at = 0; at < bytes.length && expected !== 'nothing'; ) {
      if (left > 0) {
        const piece = bytes.subarray(at, at + left);
        at += piece.length;
        left -= piece.length;
        onData(piece);
        continue;
      }
      const newline = bytes.indexOf(NEWLINE, at);
      const end = newline < 0 ? bytes.length : newline;
      line += String.fromCharCode(...bytes.subarray(at, Math.min(end, at + LINE_LIMIT)));
      if (line.length >= LINE_LIMIT) throw new Error('a line between chunks is too long');
      at = end + 1;
      if (newline < 0) break;
      take(line.replace(/\r$/, ''));
      line = '';
    }
    return expected === 'nothing';
  };
}

function lengthOf(line: string): number {
  const [digits = ''] = line.split(';');
  if (!/^[0-9a-f]{1,12}\s*$/i.test(digits)) throw new Error('not the length of a chunk');
  return Number.parseInt(digits, 16);
}
