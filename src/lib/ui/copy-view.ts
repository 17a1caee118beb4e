/** How the result of a copy is shown. Pure. */
import { formatSize } from '../util/size.ts';
import type { View } from './output.ts';

export const copyView: View<{ readonly files: number; readonly bytes: number }> = {
  name: ({ files }) => String(files),
  columns: [
    { header: 'FILES', value: ({ files }) => String(files), align: 'right' },
    { header: 'SIZE', value: ({ bytes }) => formatSize(bytes), align: 'right' },
  ],
};
