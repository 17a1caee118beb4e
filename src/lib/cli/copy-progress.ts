/** Progress of a copy on a terminal: one line that replaces itself and is gone at the end. */
import type { CopyProgress } from '../ops/copy/copy.ts';
import { CLEAR_LINE, progressLine } from '../ui/copy-progress.ts';
import type { Clock } from './context.ts';
import type { Output } from './io.ts';

const LEAST_MS = 100;

/** Shows what it is told, at most ten times a second, until it is disposed. */
export function progressOn(
  output: Output,
  clock: Clock,
): Disposable & { show(progress: CopyProgress): void } {
  const start = clock.monotonic();
  let last = start;
  return {
    show(progress) {
      const now = clock.monotonic();
      if (now - last < LEAST_MS) return;
      last = now;
      output.write(progressLine(progress, now - start));
    },
    [Symbol.dispose]: () => output.write(CLEAR_LINE),
  };
}
