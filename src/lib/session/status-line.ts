/** One line about the connection in the last row, which leaves cursor and colours of the program as they were. */
import type { TerminalSize } from '../backend/contract.ts';

/** The bytes that show `text`; what does not fit is cut. */
export function statusLine(text: string, { cols, rows }: TerminalSize): string {
  const shown = text.slice(0, Math.max(0, cols - 1));
  return `\x1b\\\x1b7\x1b[?6l\x1b[${rows};1H\x1b[0;7m${shown}\x1b[m\x1b[K\x1b8`;
}

/** The bytes that clear the row of a status line. */
export function noStatusLine({ rows }: TerminalSize): string {
  return `\x1b7\x1b[?6l\x1b[${rows};1H\x1b[m\x1b[2K\x1b8`;
}

/** What is going on, in words. */
export function reconnecting(attempt: number, waitMs: number): string {
  const what =
    waitMs === 0 ? `reconnecting (attempt ${attempt})` : `next attempt in ${(waitMs / 1000).toFixed(1)} s`;
  return ` connection lost, ${what} - keys are kept - ~. leaves `;
}

/** That the sandbox is paused, in words. */
export function pausedFor(resume: string): string {
  return ` paused, ${resume} lets it go on - keys are kept - ~. leaves `;
}
