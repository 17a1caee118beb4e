/** One line at the bottom of a terminal that replaces itself. */
import { decideColor } from '../ui/color.ts';
import { type ProgressState, progressLine } from '../ui/progress-line.ts';
import { decideUnicode } from '../ui/unicode.ts';
import type { Context } from './context.ts';

const FRAME_MS = 100;

/** Takes the line away for good. */
export interface LiveLine {
  close(): void;
}

/**
 * Draws `state` now and ten times a second. Whatever else is written to stderr meanwhile stands where the line was, and the
 * line comes back below it. It is also gone when the process exits.
 */
export function liveLine(
  { io, env, settings }: Pick<Context, 'io' | 'env' | 'settings'>,
  state: () => ProgressState,
): LiveLine {
  const { stderr } = io;
  const look = {
    color: decideColor({ isTTY: stderr.isTTY, env, flag: settings.color }),
    unicode: decideUnicode(env),
  };
  let frame = 0;
  /** Cells of the line that is there; 0: none. */
  let cells = 0;
  const write = (text: string) => {
    stderr.beforeWrite(undefined);
    stderr.write(text);
    stderr.beforeWrite(erase);
  };
  const erase = () => {
    if (cells > 0) write(toStart(cells, stderr.columns));
    cells = 0;
  };
  const draw = () => {
    const columns = stderr.columns ?? 80;
    const line = progressLine(state(), { ...look, columns, frame: frame++ });
    const before = cells >= columns ? toStart(cells, columns) : '\r';
    // The rest of the old line goes last, so that there is no moment without a line.
    write(`${before}${line.text}\u001b[K`);
    cells = line.cells;
  };
  const close = () => {
    clearInterval(timer);
    process.off('exit', close);
    erase();
    stderr.beforeWrite(undefined);
  };
  const timer = setInterval(draw, FRAME_MS);
  timer.unref();
  process.once('exit', close);
  draw();
  return { close };
}

/** To the start of a line of so many cells, all of it cleared: in a window that has become narrower it takes several rows. */
function toStart(cells: number, columns = 80): string {
  const up = Math.max(0, Math.ceil(cells / columns) - 1);
  return `${up > 0 ? `\u001b[${up}A` : ''}\r\u001b[J`;
}
