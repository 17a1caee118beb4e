/** How forwards in the background are shown. Pure. */
import type { BackgroundForward } from '../ops/forward/records.ts';
import { forwardText } from '../ops/forward/types.ts';
import { ageOf } from '../util/duration.ts';
import type { View } from './output.ts';

export const backgroundView: View<BackgroundForward> = {
  name: ({ id }) => id,
  columns: [
    { header: 'ID', value: ({ id }) => id, whole: true },
    { header: 'SANDBOX', value: ({ sandbox }) => sandbox },
    { header: 'FORWARD', value: ({ forwards }) => forwards.map(forwardText).join(', ') || undefined },
    {
      header: 'STATE',
      value: ({ state }) => state,
      style: ({ state }) => (state === 'running' ? 'green' : 'red'),
    },
    { header: 'AGE', value: ({ createdAt }, now) => ageOf(createdAt, now) },
    { header: 'LAST MESSAGE', value: ({ lastLine }) => lastLine },
    { header: 'PID', value: ({ pid }) => String(pid), align: 'right', wide: true },
    { header: 'LOG', value: ({ log }) => log, wide: true, whole: true },
  ],
  data: ({ identity: _, ...shown }) => shown,
};
