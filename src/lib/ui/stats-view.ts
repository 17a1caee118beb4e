/** How the use of resources is shown. */
import type { StatsRow } from '../ops/stats.ts';
import { formatSize } from '../util/size.ts';
import type { View } from './output.ts';

const size = (bytes: number | undefined) => (bytes === undefined ? undefined : formatSize(bytes));

export const statsView: View<StatsRow> = {
  name: ({ name }) => name,
  columns: [
    { header: 'NAME', value: ({ name }) => name, whole: true },
    {
      header: 'CPU',
      value: ({ cpuPercent }) => (cpuPercent === undefined ? undefined : `${cpuPercent.toFixed(1)}%`),
      align: 'right',
    },
    { header: 'CPUS', value: ({ cpus }) => cpus?.toString(), align: 'right', wide: true },
    { header: 'MEMORY', value: ({ memory }) => size(memory), align: 'right' },
    { header: 'LIMIT', value: ({ memoryLimit }) => size(memoryLimit), align: 'right' },
    { header: 'DISK', value: ({ disk }) => size(disk), align: 'right' },
    { header: 'NET IN', value: ({ networkRx }) => size(networkRx), align: 'right' },
    { header: 'NET OUT', value: ({ networkTx }) => size(networkTx), align: 'right' },
    { header: 'PROCESSES', value: ({ processes }) => processes?.toString(), align: 'right' },
    { header: 'BACKEND', value: ({ backend }) => backend, wide: true },
  ],
};
