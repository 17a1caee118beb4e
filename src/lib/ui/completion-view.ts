/** What installing completion did, as a table. */
import type { CompletionChange } from '../ops/completion-install.ts';
import type { View } from './output.ts';

export const completionView: View<CompletionChange> = {
  name: ({ path }) => path,
  columns: [
    { header: 'SHELL', value: ({ shell }) => shell },
    { header: 'DONE', value: ({ done }) => done },
    { header: 'FILE', value: ({ path }) => path, whole: true },
  ],
};
