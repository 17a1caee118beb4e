/** The table of what sandboxes use, with the last values as bars. Pure. */
import type { StatsRow } from '../../ops/stats.ts';
import { statsView } from '../stats-view.ts';
import type { Column } from '../table.ts';
import { remember, sparkline } from './sparkline.ts';

/** What one sandbox uses, and what it used before. */
export interface MeasuredRow extends StatsRow {
  readonly cpuHistory: readonly (number | undefined)[];
  readonly memoryHistory: readonly (number | undefined)[];
}

/** The row with one more measurement. */
export function measured(before: MeasuredRow | undefined, row: StatsRow): MeasuredRow {
  return {
    ...row,
    cpuHistory: remember(before?.cpuHistory ?? [], row.cpuPercent),
    memoryHistory: remember(before?.memoryHistory ?? [], row.memory),
  };
}

/** What a whole bar stands for: one CPU. */
const ONE_CPU = 100;

/** The columns of `stats`, CPU and memory each followed by its history where the window has room for it. */
export function statsColumns(cols: number): readonly Column<MeasuredRow>[] {
  const cells = cols >= 120 ? 20 : cols >= 100 ? 10 : cols >= 60 ? 6 : 0;
  const bars = (value: (row: MeasuredRow) => string): readonly Column<MeasuredRow>[] =>
    cells === 0 ? [] : [{ header: '', value, whole: true, style: () => 'cyan' }];
  return statsView.columns.flatMap((column) => {
    if (column.header === 'CPU') return [column, ...bars((row) => sparkline(row.cpuHistory, cells, ONE_CPU))];
    if (column.header !== 'MEMORY') return [column];
    return [column, ...bars((row) => sparkline(row.memoryHistory, cells, row.memoryLimit ?? 0))];
  });
}
