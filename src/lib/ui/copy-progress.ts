/** How far a copy is, as one line that replaces itself. Pure. */
import { formatSize } from '../util/size.ts';

/** The line, with the codes that put it over the one before. `ms`: since the start. */
export function progressLine(done: { readonly files: number; readonly bytes: number }, ms: number): string {
  const rate = formatSize(ms > 0 ? (done.bytes * 1000) / ms : 0);
  return `\r\u001b[K${done.files} ${done.files === 1 ? 'file' : 'files'}, ${formatSize(done.bytes)}, ${rate}/s`;
}

/** Takes the line away. */
export const CLEAR_LINE = '\r\u001b[K';
