/** How snapshots look. Pure. */
import { ageOf } from '../util/duration.ts';
import { formatSize } from '../util/size.ts';
import type { View } from './output.ts';

/** A snapshot of a backend. */
export interface SnapshotRow {
  readonly id: string;
  readonly backend: string;
  readonly name?: string | undefined;
  readonly createdAt: string;
  readonly sandbox?: string | undefined;
  readonly size?: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
}

export const snapshotView: View<SnapshotRow> = {
  name: ({ id }) => id,
  columns: [
    { header: 'ID', value: ({ id }) => id, whole: true },
    { header: 'NAME', value: ({ name }) => name },
    { header: 'BACKEND', value: ({ backend }) => backend },
    { header: 'SANDBOX', value: ({ sandbox }) => sandbox },
    {
      header: 'SIZE',
      value: ({ size }) => (size === undefined ? undefined : formatSize(size)),
      align: 'right',
    },
    { header: 'AGE', value: ({ createdAt }, now) => ageOf(createdAt, now) },
    {
      header: 'LABELS',
      value: ({ labels }) =>
        Object.entries(labels)
          .map(([key, value]) => (value === '' ? key : `${key}=${value}`))
          .join(','),
      wide: true,
    },
  ],
};
