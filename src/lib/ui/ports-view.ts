/** How what listens is shown. Pure. */
import type { ListeningPort } from '../backend/contract.ts';
import type { View } from './output.ts';

export const portsView: View<ListeningPort> = {
  name: ({ port }) => String(port),
  columns: [
    { header: 'PORT', value: ({ port }) => String(port), align: 'right', whole: true },
    { header: 'ADDRESS', value: ({ address }) => address },
    { header: 'PROCESS', value: ({ process }) => process },
    { header: 'PID', value: ({ pid }) => pid?.toString(), align: 'right' },
  ],
};
