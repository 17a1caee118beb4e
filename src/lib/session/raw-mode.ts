/** The guard of the local terminal: raw while it is held, as it was before whatever happens then. */
import { spawnSync } from 'node:child_process';
import type { Readable } from 'node:stream';
import { hasErrno } from '../errors.ts';

/** An input that is a terminal, as Node's `tty.ReadStream` is. */
export type RawInput = Readable & { fd?: number; isRaw?: boolean; setRawMode?(raw: boolean): unknown };

/** What else is to be done when this process is stopped, as with `kill -TSTP`, and when it goes on. */
export interface StopHooks {
  /** Right before it stops by TSTP; a STOP cannot be noticed. */
  readonly onStop?: (() => void) | undefined;
  /** After it went on and the terminal is raw again. */
  readonly onContinue?: (() => void) | undefined;
}

/**
 * Puts `input` into raw mode until the result is disposed or the process exits, be it by an uncaught error; also again
 * when a process that was stopped goes on, since a shell has had the terminal meanwhile. Signals that end must be taken
 * over by somebody while it is held: their default action ends a process without a word.
 */
export function enterRawMode(input: RawInput, hooks: StopHooks = {}): Disposable {
  const before = input.isRaw ?? false;
  // A terminal that was closed meanwhile has no mode to restore.
  const onError = (error: Error) => {
    if (!hasErrno(error, 'EIO', 'EBADF', 'ENOTTY')) throw error;
  };
  input.on('error', onError);
  const restore = () => {
    input.setRawMode?.(before);
  };
  const onStop = () => {
    hooks.onStop?.();
    restore();
    process.kill(process.pid, 'SIGSTOP');
  };
  const onContinue = () => {
    // Setting the mode that Node believes to be set does nothing.
    input.setRawMode?.(false);
    setRaw(input);
    hooks.onContinue?.();
  };
  process.once('exit', restore);
  process.on('SIGTSTP', onStop);
  process.on('SIGCONT', onContinue);
  setRaw(input);
  return {
    [Symbol.dispose]() {
      process.off('exit', restore);
      process.off('SIGTSTP', onStop);
      process.off('SIGCONT', onContinue);
      restore();
      input.off('error', onError);
    },
  };
}

/**
 * Node leaves one thing of the terminal on in raw mode: that a line feed is also a carriage return. Programs that have
 * put that off on their side mean the next row, same column. Without `stty` it stays so. Putting raw mode off undoes it.
 */
function setRaw(input: RawInput): void {
  input.setRawMode?.(true);
  if (input.fd !== undefined) spawnSync('stty', ['-opost'], { stdio: [input.fd, 'ignore', 'ignore'] });
}
