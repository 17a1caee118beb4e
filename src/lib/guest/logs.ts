/** Reads the stream that logs.sh prints: a head with the time index, then the bytes of the log. */
import { INDEX_LIMIT, type LogSample, parseLogIndex } from './logs-index.ts';

/** What comes before the bytes. */
export interface LogHead {
  /** Position of the first byte in the log. */
  readonly start: number;
  /** The sandbox's clock when it answered, in epoch milliseconds. */
  readonly now: number;
  readonly samples: readonly LogSample[];
}

const HEAD_LIMIT = INDEX_LIMIT + 1024;
const FIRST_LINE = /^log (\d{1,15}) (\d{1,12})\n/;

/**
 * The head and what follows it, from the chunks so far; undefined while the head is not whole.
 * `malformed` for anything that logs.sh does not print.
 */
export function parseLogHead(
  bytes: Buffer,
): { readonly head: LogHead; readonly rest: Buffer } | undefined | 'malformed' {
  const end = bytes.indexOf('\n\n');
  if (end < 0) return bytes.length > HEAD_LIMIT ? 'malformed' : undefined;
  const text = bytes.toString('latin1', 0, end + 1);
  const match = FIRST_LINE.exec(text);
  if (match === null) return 'malformed';
  const samples = parseLogIndex(text.slice(match[0].length));
  return {
    head: { start: Number(match[1]), now: Number(match[2]) * 1000, samples },
    rest: bytes.subarray(end + 2),
  };
}
