/** A terminal in memory that shows what a session prints. It never answers what the session asks of a terminal. */
import type { IUnicodeVersionProvider, Terminal } from '@xterm/headless';
import { width } from '../text.ts';
import { type Crop, screenLines } from './cells.ts';

/** Columns and rows that are believed; larger ones come from somebody who wants our memory. */
const MOST = { cols: 500, rows: 200 };

const RESET = '\u001bc';

/** A screen that can be written to and looked at. */
export interface Emulator extends Disposable {
  /** What is written next begins on an empty screen. */
  clear(): void;
  resize(size: { readonly cols: number; readonly rows: number }): void;
  /** Resolves once it can be seen. */
  write(data: Uint8Array): Promise<void>;
  /** What stands on it, cropped. */
  lines(crop: Crop): readonly string[];
  readonly cols: number;
  readonly rows: number;
}

/** Loads the emulator and makes one. It keeps no lines that have scrolled off. */
export async function createEmulator(cols: number, rows: number): Promise<Emulator> {
  const { default: xterm } = await import('@xterm/headless');
  const terminal = new xterm.Terminal({ ...bounded({ cols, rows }), scrollback: 0, allowProposedApi: true });
  terminal.unicode.register(ourWidths);
  terminal.unicode.activeVersion = ourWidths.version;
  const cursor = watchCursor(terminal);
  let stale = false;
  return {
    clear() {
      // With what is written next: a frame in between would show an empty screen.
      stale = true;
    },
    resize(size) {
      const next = bounded(size);
      if (next.cols !== terminal.cols || next.rows !== terminal.rows) terminal.resize(next.cols, next.rows);
    },
    write(data) {
      if (stale) terminal.write(RESET);
      stale = false;
      return new Promise((done) => terminal.write(data, done));
    },
    lines: (crop) => screenLines(terminal, crop, cursor.shown),
    get cols() {
      return terminal.cols;
    },
    get rows() {
      return terminal.rows;
    },
    [Symbol.dispose]: () => terminal.dispose(),
  };
}

function bounded({ cols, rows }: { readonly cols: number; readonly rows: number }) {
  const within = (value: number, most: number) => Math.max(1, Math.min(most, Math.trunc(value) || 1));
  return { cols: within(cols, MOST.cols), rows: within(rows, MOST.rows) };
}

/** Whether the session shows its cursor: the emulator does not tell, so its codes are watched. */
function watchCursor(terminal: Terminal): { readonly shown: boolean } {
  const state = { shown: true };
  const setTo = (shown: boolean) => (params: (number | number[])[]) => {
    if (params.includes(25)) state.shown = shown;
    return false;
  };
  const shows = () => {
    state.shown = true;
    return false;
  };
  terminal.parser.registerCsiHandler({ prefix: '?', final: 'h' }, setTo(true));
  terminal.parser.registerCsiHandler({ prefix: '?', final: 'l' }, setTo(false));
  terminal.parser.registerCsiHandler({ intermediates: '!', final: 'p' }, shows);
  terminal.parser.registerEscHandler({ final: 'c' }, shows);
  return state;
}

/** The same widths as everywhere in sbx: the emulator's own table is of 2010, when emoji were narrow. */
const ourWidths: IUnicodeVersionProvider = {
  version: 'sbx',
  wcwidth: cellsOf,
  charProperties(codepoint, preceding) {
    const own = cellsOf(codepoint);
    const before = (preceding >> 1) & 3;
    const joins = own === 0 && before > 0;
    return ((joins ? before : own) << 1) | (joins ? 1 : 0);
  },
};

/** What asks for a picture or a letter: by itself it has no width. */
const SELECTOR = /\p{Variation_Selector}/u;

const known = new Map<number, 0 | 1 | 2>();

function cellsOf(codepoint: number): 0 | 1 | 2 {
  if (codepoint < 0x300) return codepoint < 0x20 || (codepoint >= 0x7f && codepoint < 0xa0) ? 0 : 1;
  let cells = known.get(codepoint);
  if (cells === undefined) {
    const char = String.fromCodePoint(codepoint);
    const size = SELECTOR.test(char) ? 0 : width(char);
    cells = size <= 0 ? 0 : size >= 2 ? 2 : 1;
    // A hostile session may print every character there is; the table must not grow without end.
    if (known.size < 4096) known.set(codepoint, cells);
  }
  return cells;
}
