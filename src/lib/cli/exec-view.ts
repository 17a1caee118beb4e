/** How the results of `exec` and `run` are shown. */
import type { ProcessInfo } from '../backend/contract.ts';
import type { Collected } from '../ops/exec-collect.ts';
import type { View } from '../ui/output.ts';

/** A command that has ended, with its output. */
export const collectedView: View<Collected> = {
  name: ({ exitCode }) => String(exitCode),
  columns: [{ header: 'EXIT', value: ({ exitCode }) => String(exitCode) }],
};

/** A command that goes on in the background. */
export const startedView: View<ProcessInfo> = {
  name: ({ id }) => id,
  columns: [{ header: 'PROCESS', value: ({ id }) => id }],
};
