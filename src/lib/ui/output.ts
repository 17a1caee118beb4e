/** A result in the format that was asked for. Pure, but for loading the YAML library when it is asked for. */
import { type Column, table } from './table.ts';
import { visible } from './text.ts';

/** The formats of `--output`. */
export type Format = 'table' | 'wide' | 'json' | 'jsonl' | 'yaml' | 'name';

/** How a kind of thing is shown. */
export interface View<Row> {
  readonly columns: readonly Column<Row>[];
  /** What `-o name` and `-q` print. */
  name(row: Row): string;
  /** What JSON and YAML hold; without it, the row itself. */
  data?(row: Row): unknown;
}

/** What rendering depends on besides the data. */
export interface RenderOptions {
  readonly format: Format;
  readonly columns: number | undefined;
  readonly color: boolean;
  readonly now: Date;
  /** One thing rather than a list of one: JSON is an object then. */
  readonly single?: boolean;
}

/** The text for stdout, newline at the end included; empty for no rows in the line formats. */
export async function render<Row>(
  rows: readonly Row[],
  view: View<Row>,
  { format, columns, color, now, single = false }: RenderOptions,
): Promise<string> {
  const data = () => rows.map((row) => (view.data === undefined ? row : view.data(row)));
  const whole = () => (single ? data()[0] : data());
  switch (format) {
    case 'table':
    case 'wide':
      return table(rows, view.columns, { columns, color, now, wide: format === 'wide' });
    case 'json':
      return `${JSON.stringify(whole(), null, 2)}\n`;
    case 'jsonl':
      return lines(data().map((row) => JSON.stringify(row)));
    case 'yaml': {
      const { stringify } = await import('yaml');
      // Through JSON, so that dates and absent values look the same in both.
      return stringify(JSON.parse(JSON.stringify(whole())));
    }
    case 'name':
      return lines(rows.map((row) => visible(view.name(row))));
  }
}

function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}
