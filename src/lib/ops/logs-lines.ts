/** Pieces of a log as lines. Pure. */
import type { LogPiece } from './logs.ts';

/** A line, or a part of one that is longer than {@link LINE_LIMIT}. */
export interface LogLine {
  readonly process: LogPiece['process'];
  /** Epoch milliseconds of its first byte. */
  readonly time: number | undefined;
  /** Without its newline. */
  readonly bytes: Buffer;
  /** Whether a newline follows. */
  readonly whole: boolean;
  /** Whether it goes on from the part before. */
  readonly continued: boolean;
}

/** Longest line in bytes that is kept in memory; longer ones come in parts. */
export const LINE_LIMIT = 1024 * 1024;
const NEWLINE = 0x0a;

/** Cuts at newlines. The end of one process's log ends its last line. */
export async function* linesOf(
  pieces: AsyncIterable<LogPiece>,
  limit = LINE_LIMIT,
): AsyncGenerator<LogLine, void, void> {
  let parts: Uint8Array[] = [];
  let size = 0;
  let time: number | undefined;
  let continued = false;
  let process: LogPiece['process'] | undefined;
  const take = (owner: LogPiece['process'], whole: boolean): LogLine => {
    const line = { process: owner, time, bytes: Buffer.concat(parts), whole, continued };
    parts = [];
    size = 0;
    continued = !whole;
    return line;
  };
  for await (const piece of pieces) {
    if (process !== undefined && process.id !== piece.process.id && size > 0) {
      yield take(process, false);
      continued = false;
    }
    process = piece.process;
    const { data } = piece;
    for (let at = 0; at < data.length; ) {
      if (size === 0) time = piece.time;
      const newline = data.indexOf(NEWLINE, at);
      const end = Math.min(newline < 0 ? data.length : newline, at + limit - size);
      if (end > at) parts.push(data.subarray(at, end));
      size += end - at;
      at = end;
      if (at === newline) {
        yield take(process, true);
        at++;
      } else if (size >= limit) yield take(process, false);
    }
  }
  if (process !== undefined && size > 0) yield take(process, false);
}

/** Lines that match; the parts of a long line go where its first part goes. */
export async function* matching(
  lines: AsyncIterable<LogLine>,
  pattern: RegExp,
): AsyncGenerator<LogLine, void, void> {
  let passes = false;
  for await (const line of lines) {
    if (!line.continued) passes = pattern.test(line.bytes.toString('utf8'));
    if (passes) yield line;
  }
}
