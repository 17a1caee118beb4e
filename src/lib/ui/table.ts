/** Plain tables: uppercase headers, two spaces between columns, fitted to a width. Pure. */
import { paint, type Style } from './color.ts';
import { pad, truncate, visible, width } from './text.ts';

/** One column of a table. */
export interface Column<Row> {
  /** In capitals. */
  readonly header: string;
  /** The cell; undefined is shown as `-`. Control characters are made visible afterwards. */
  value(row: Row, now: Date): string | undefined;
  readonly align?: 'left' | 'right';
  /** Shown with `-o wide` only. */
  readonly wide?: boolean;
  /** Never cut to fit: what people copy. */
  readonly whole?: boolean;
  style?(row: Row): Style | undefined;
}

/** How to draw a table. */
export interface TableOptions {
  /** Cells in a line; undefined: as wide as needed. */
  readonly columns: number | undefined;
  readonly color: boolean;
  readonly wide: boolean;
  readonly now: Date;
}

const GAP = '  ';
const LEAST = 5;

/** The table with its header, one line a row, each ending in a newline. */
export function table<Row>(rows: readonly Row[], all: readonly Column<Row>[], options: TableOptions): string {
  const shown = all.filter((column) => options.wide || !column.wide);
  const cells = rows.map((row) => shown.map((column) => visible(column.value(row, options.now) || '-')));
  const widths = fitWidths(
    shown.map((column, at) => ({
      // Not Math.max(...): a list may have more rows than a call may have arguments.
      width: cells.reduce((most, row) => Math.max(most, width(row[at] ?? '')), width(column.header)),
      whole: column.whole === true,
    })),
    options.columns,
  );
  const line = (texts: readonly string[], styles: readonly (Style | undefined)[]) =>
    texts
      .map((text, at) => {
        const size = widths[at] ?? 0;
        const cut = truncate(text, size);
        const last = at === texts.length - 1 && shown[at]?.align !== 'right';
        return paint(last ? cut : pad(cut, size, shown[at]?.align), styles[at], options.color);
      })
      .join(GAP)
      .trimEnd();
  const head = line(
    shown.map(({ header }) => header),
    shown.map(() => 'bold'),
  );
  const body = cells.map((texts, at) => {
    const row = rows[at] as Row;
    return line(
      texts,
      shown.map((column) => column.style?.(row)),
    );
  });
  return `${[head, ...body].join('\n')}\n`;
}

/** Takes cells from the widest columns until the line fits or nothing more can give. */
function fitWidths(
  columns: readonly { width: number; whole: boolean }[],
  room: number | undefined,
): number[] {
  const widths = columns.map((column) => column.width);
  if (room === undefined) return widths;
  let excess = widths.reduce((sum, each) => sum + each, 0) + GAP.length * (columns.length - 1) - room;
  while (excess > 0) {
    let widest = -1;
    for (const [at, size] of widths.entries()) {
      if (!columns[at]?.whole && size > LEAST && size > (widths[widest] ?? 0)) widest = at;
    }
    if (widest < 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess--;
  }
  return widths;
}
