/** Progress that is written down. */
import type { Progress } from '../../src/lib/ops/progress.ts';

/** Puts everything that is told into `said`, a text each. */
export function toldTo(said: string[]): Progress {
  return {
    step: (text) => void said.push(text),
    detail: (text) => void said.push(text),
    count: ({ files, bytes }) => void said.push(`${files} files, ${bytes} bytes`),
    output: (data) => void said.push(Buffer.from(data).toString()),
    fail: () => void said.push('failed'),
    note: (text) => void said.push(text),
  };
}
