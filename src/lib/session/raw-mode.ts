/** The guard of the local terminal: raw while it is held, as it was before whatever happens then. */
import type { Readable } from 'node:stream';
import { hasErrno } from '../errors.ts';

/** An input that is a terminal, as Node's `tty.ReadStream` is. */
export type RawInput = Readable & { isRaw?: boolean; setRawMode?(raw: boolean): unknown };

/**
 * Puts `input` into raw mode until the result is disposed or the process exits, be it by an uncaught error. Signals must be
 * taken over by somebody while it is held: their default action ends a process without a word.
 */
export function enterRawMode(input: RawInput): Disposable {
  const before = input.isRaw ?? false;
  // A terminal that was closed meanwhile has no mode to restore.
  const onError = (error: Error) => {
    if (!hasErrno(error, 'EIO', 'EBADF', 'ENOTTY')) throw error;
  };
  input.on('error', onError);
  const restore = () => {
    input.setRawMode?.(before);
  };
  process.once('exit', restore);
  input.setRawMode?.(true);
  return {
    [Symbol.dispose]() {
      process.off('exit', restore);
      restore();
      input.off('error', onError);
    },
  };
}
