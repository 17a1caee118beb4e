/** How the results of checks are shown. */
import type { CheckResult } from '../backend/contract.ts';
import type { View } from './output.ts';
import { statusStyle } from './status.ts';
import { visible } from './text.ts';

/** Check, status and detail; with `-o wide` also what to do. */
export const checkView: View<CheckResult> = {
  name: ({ name }) => name,
  columns: [
    { header: 'CHECK', value: ({ name }) => name, whole: true },
    {
      header: 'STATUS',
      value: ({ status }) => status,
      whole: true,
      style: ({ status }) => statusStyle(status),
    },
    { header: 'DETAIL', value: ({ detail }) => detail, whole: true },
    { header: 'HINT', value: ({ hint }) => hint, wide: true, whole: true },
  ],
};

/** A line for each check that is not well, with what to do: hints are too long for a column. */
export function hintLines(results: readonly CheckResult[]): string[] {
  return results.flatMap(({ name, hint }) => (hint === undefined ? [] : [visible(`hint: ${name}: ${hint}`)]));
}
