/** Has whatever is in front of a session show itself again. */
import type { SessionChannel, TerminalSize } from '../backend/contract.ts';
import { pause } from '../util/pause.ts';

/** Milliseconds that a program has to notice that its window has changed. */
export const NOTICED_WITHIN = 500;

/**
 * Makes the window one row lower until something is printed, and then as it is: a shell prints its prompt again only
 * in a window that has another size. The size is put back before `signal` ends the connection.
 */
export async function redrawAnew(
  channel: SessionChannel,
  size: () => TerminalSize,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const printed = new AbortController();
  const onPrinted = () => printed.abort();
  const restore = () => channel.redraw(size());
  channel.output.once('data', onPrinted);
  signal.addEventListener('abort', restore, { once: true });
  const { cols, rows } = size();
  channel.resize({ cols, rows: rows > 1 ? rows - 1 : rows + 1 });
  await pause(NOTICED_WITHIN, AbortSignal.any([signal, printed.signal]));
  channel.output.off('data', onPrinted);
  signal.removeEventListener('abort', restore);
  if (!signal.aborted) restore();
}
