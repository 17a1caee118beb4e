/** How sandboxes with what they use and have are shown. Pure. */
import type { TopRow } from '../ops/live/top-table.ts';
import { formatSize } from '../util/size.ts';
import type { View } from './output.ts';
import { STATE_STYLES } from './sandbox-view.ts';

export const topView: View<TopRow> = {
  name: ({ sandbox }) => sandbox.name,
  data: ({ sandbox, ...rest }) => ({ ...sandbox, ...rest }),
  columns: [
    { header: 'NAME', value: ({ sandbox }) => sandbox.name, whole: true },
    { header: 'BACKEND', value: ({ sandbox }) => sandbox.backend },
    {
      header: 'STATE',
      value: ({ sandbox, error }) => error ?? sandbox.state,
      style: ({ sandbox, error }) => (error === undefined ? STATE_STYLES[sandbox.state] : 'red'),
    },
    {
      header: 'CPU',
      align: 'right',
      value: ({ stats }) => (stats?.cpuPercent === undefined ? undefined : `${stats.cpuPercent.toFixed(1)}%`),
    },
    {
      header: 'MEMORY',
      align: 'right',
      value: ({ stats }) => (stats?.memory === undefined ? undefined : formatSize(stats.memory)),
    },
    {
      header: 'SESSIONS',
      value: ({ sessions }) =>
        sessions
          ?.filter(({ state }) => state === 'running')
          .map(({ name }) => name)
          .join(','),
    },
    {
      header: 'PORTS',
      value: ({ ports }) =>
        ports === undefined ? undefined : [...new Set(ports.map(({ port }) => port))].join(','),
    },
  ],
};
