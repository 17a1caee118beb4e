/** Plain tables: uppercase headers, two spaces between columns, fitted to a width. Pure. */
import { paint, type Style } from './color.ts';
import { measured, truncate } from './text.ts';

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
  const cells = shown.map((column) => cellsOf(rows, column, options.now));
  const widths = fitWidths(
    shown.map(({ whole = false }, at) => ({ width: greatest(cells[at] ?? []), whole })),
    options.columns,
  );
  const drawn = shown.map((column, at) => {
    const last = at === shown.length - 1;
    return draw(cells[at] ?? [], widths[at] ?? 0, last ? (column.align ?? 'none') : column.align);
  });
  const styleOf = (line: number, at: number) =>
    line === 0 ? 'bold' : shown[at]?.style?.(rows[line - 1] as Row);
  let text = '';
  // Not over entries(), which costs a quarter of a long table's time.
  for (let line = 0; line <= rows.length; line++) {
    let drawnLine = '';
    for (let at = 0; at < drawn.length; at++) {
      const part = drawn[at]?.[line] ?? '';
      if (at > 0) drawnLine += GAP;
      drawnLine += options.color ? paint(part, styleOf(line, at), true) : part;
    }
    text += `${drawnLine.trimEnd()}\n`;
  }
  return text;
}

interface Cell {
  readonly value: string;
  /** What is shown of the value, and its width. */
  readonly text: string;
  readonly size: number;
}

/** The header and a cell for each row. Measuring text is most of the work, and many cells are as the one above. */
function cellsOf<Row>(rows: readonly Row[], column: Column<Row>, now: Date): Cell[] {
  let above = cellOf(column.header);
  const cells = [above];
  for (const row of rows) {
    const value = column.value(row, now) || '-';
    if (value !== above.value) above = cellOf(value);
    cells.push(above);
  }
  return cells;
}

function cellOf(value: string): Cell {
  return { value, ...measured(value) };
}

/** Not Math.max(...): a list may have more rows than a call may have arguments. */
function greatest(cells: readonly Cell[]): number {
  let most = 0;
  for (const { size } of cells) if (size > most) most = size;
  return most;
}

/** The cells cut and filled to `room`; `none` fills nothing. */
function draw(cells: readonly Cell[], room: number, align: 'left' | 'right' | 'none' = 'left'): string[] {
  let above: Cell | undefined;
  let text = '';
  return cells.map((cell) => {
    if (cell === above) return text;
    above = cell;
    const { text: whole, size } = cell.size <= room ? cell : cellOf(truncate(cell.text, room));
    const fill = align === 'none' ? '' : ' '.repeat(room - size);
    text = align === 'right' ? fill + whole : whole + fill;
    return text;
  });
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
