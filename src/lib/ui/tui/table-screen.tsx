/** A table that is kept up to date: `ls`, `stats` and `ports` with `--watch` on a terminal. Pure. */
import type { ReactElement } from 'react';
import type { Style } from '../color.ts';
import { type Column, table } from '../table.ts';
import { type KeyEvent, keyWord } from './keys.ts';
import { Frame, HelpLines, keyLine, Lines, line } from './parts.tsx';
import type { Screen, Step, Surroundings } from './screen.ts';

/** A line below the table: what is missing from it, and why. */
export interface TableNote {
  readonly text: string;
  readonly style: Style;
}

/** What the table holds now. */
export interface TableNews<Row> {
  readonly type: 'table';
  readonly rows: readonly Row[];
  readonly notes: readonly TableNote[];
}

export interface TableState<Row> {
  /** Undefined until it is known. */
  readonly rows: readonly Row[] | undefined;
  readonly notes: readonly TableNote[];
  /** Rows that have scrolled off the top. */
  readonly first: number;
  readonly help: boolean;
}

/** What is to be done. */
export type TableEffect = { readonly kind: 'quit' };

/** What the table looks like. */
export interface TableLook<Row> {
  readonly title: string;
  /** Said when there are no rows. */
  readonly empty: string;
  readonly wide: boolean;
  /** Columns for a window of that width. */
  columns(cols: number): readonly Column<Row>[];
}

const KEYS = [
  ['Up Down', 'scroll'],
  ['?', 'help'],
  ['q', 'quit'],
] as const;
const HELP = [
  ['Up Down j k', 'scroll by a line'],
  ['PageUp PageDown', 'scroll by ten'],
  ['Home End g G', 'to the start, to the end'],
  ['q Ctrl-C', 'quit'],
] as const;

/** The screen of one table. */
export function tableScreen<Row>(
  look: TableLook<Row>,
): Screen<TableState<Row>, TableNews<Row>, TableEffect, never> {
  return {
    initial: { rows: undefined, notes: [], first: 0, help: false },
    reduce: reduceTable,
    view: (state, surroundings) => tableView(state, look, surroundings),
  };
}

/** Exported for its test. */
export function reduceTable<Row>(
  state: TableState<Row>,
  event: TableNews<Row> | KeyEvent,
): Step<TableState<Row>, TableEffect> {
  if (event.type === 'table') return { state: within({ ...state, rows: event.rows, notes: event.notes }) };
  if (event.type === 'paste') return { state };
  const word = keyWord(event.key);
  if (word === 'ctrl-c' || (word === 'q' && !state.help)) return { state, effect: { kind: 'quit' } };
  if (state.help) return { state: { ...state, help: false } };
  if (word === '?') return { state: { ...state, help: true } };
  const step = STEPS[word];
  return { state: step === undefined ? state : within({ ...state, first: state.first + step }) };
}

const ALL = 1e9;
const STEPS: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  'ctrl-p': -1,
  down: 1,
  j: 1,
  'ctrl-n': 1,
  'page-up': -10,
  'page-down': 10,
  home: -ALL,
  g: -ALL,
  end: ALL,
  G: ALL,
};

/** At least one row is left to see. */
function within<Row>(state: TableState<Row>): TableState<Row> {
  return { ...state, first: Math.max(0, Math.min(state.first, (state.rows?.length ?? 0) - 1)) };
}

function tableView<Row>(
  { rows, notes, first, help }: TableState<Row>,
  { title, empty, wide, columns }: TableLook<Row>,
  { size, now }: Surroundings,
): ReactElement {
  const { cols } = size;
  const room = size.rows - 2;
  const below = notes.slice(0, Math.max(0, room - 2)).map(({ text, style }) => line(text, cols, style));
  const space = Math.max(1, room - below.length - 1);
  // The end of the table stays at the bottom of the window, however large that is.
  const from = Math.max(0, Math.min(first, (rows?.length ?? 0) - space));
  const shown = rows?.slice(from, from + space) ?? [];
  const body =
    shown.length > 0
      ? table(shown, columns(cols), { columns: cols, color: true, wide, now }).trimEnd().split('\n')
      : [line(rows === undefined ? 'asking…' : empty, cols, 'dim')];
  const more = rows === undefined || rows.length <= space ? '' : `${from + 1}-${from + shown.length} of `;
  return (
    <Frame
      size={size}
      title={title}
      facts={rows === undefined ? '' : `${more}${rows.length}`}
      foot={help ? ' any key goes back' : keyLine(KEYS, cols)}
    >
      {help ? <HelpLines keys={HELP} /> : <Lines lines={[...body, ...below]} />}
    </Frame>
  );
}
