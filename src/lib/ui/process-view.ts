/** How processes are shown. */
import type { ProcessInfo } from '../backend/contract.ts';
import { ageOf } from '../util/duration.ts';
import { quoteArgv } from '../util/shell-quote.ts';
import type { View } from './output.ts';

export const processView: View<ProcessInfo> = {
  name: ({ id }) => id,
  columns: [
    { header: 'ID', value: ({ id }) => id, whole: true },
    { header: 'NAME', value: ({ name }) => name, whole: true },
    {
      header: 'STATE',
      value: ({ state }) => state,
      style: ({ state }) => (state === 'running' ? 'green' : undefined),
    },
    { header: 'EXIT', value: shownExit },
    {
      header: 'AGE',
      value: ({ startedAt }, now) => ageOf(startedAt, now),
    },
    { header: 'PID', value: ({ pid }) => pid?.toString(), wide: true },
    { header: 'COMMAND', value: ({ argv }) => quoteArgv(argv) },
  ],
};

function shownExit({ exit }: ProcessInfo): string | undefined {
  if (exit === undefined) return undefined;
  return 'code' in exit ? String(exit.code) : exit.signal;
}
