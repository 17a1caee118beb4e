import type { View } from './output.ts';

/** Something done to a path of a sandbox. */
export interface DoneRow {
  readonly sandbox: string;
  readonly path: string;
  readonly done: string;
}

export const doneView: View<DoneRow> = {
  name: ({ path }) => path,
  columns: [
    { header: 'PATH', value: ({ path }) => path },
    { header: 'DONE', value: ({ done }) => done },
  ],
};
