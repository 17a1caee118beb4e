/** A terminal in memory for screens: what they draw stands in an emulator, and a test types and resizes. */
import { PassThrough, Writable } from 'node:stream';
import xterm from '@xterm/headless';
import type { TerminalStreams } from '../../src/lib/ui/tui/terminal.ts';

/** The terminal, seen by the person in front of it. */
export interface ScreenTerminal {
  readonly streams: TerminalStreams;
  type(keys: string): void;
  resize(cols: number, rows: number): void;
  /** The lines that stand on it, without blanks at their ends. */
  lines(): readonly string[];
  text(): string;
  /** Resolves once what stands on it satisfies the test. */
  until(holds: (text: string) => boolean): Promise<void>;
  /** Resolves once this text stands on it. */
  shows(text: string): Promise<void>;
  /** Modes that a screen changes. */
  modes(): {
    raw: boolean;
    alternate: boolean;
    wrap: boolean;
    cursor: boolean;
    listeners: number;
    flows: boolean;
  };
  /** Bytes written so far. */
  written(): number;
  cell(x: number, y: number): ReturnType<typeof cellOf>;
}

function cellOf(terminal: InstanceType<typeof xterm.Terminal>, x: number, y: number) {
  const { active } = terminal.buffer;
  const cell = active.getLine(active.baseY + y)?.getCell(x);
  return cell === undefined
    ? undefined
    : {
        chars: cell.getChars(),
        bold: cell.isBold() !== 0,
        inverse: cell.isInverse() !== 0,
        color: cell.getFgColor(),
      };
}

export function screenTerminal(cols = 80, rows = 24): ScreenTerminal {
  // A terminal device turns a line feed into a line break, also in raw mode.
  const terminal = new xterm.Terminal({ cols, rows, allowProposedApi: true, convertEol: true });
  let cursor = true;
  const cursorTo = (shown: boolean) => (params: (number | number[])[]) => {
    if (params.includes(25)) cursor = shown;
    return false;
  };
  terminal.parser.registerCsiHandler({ prefix: '?', final: 'h' }, cursorTo(true));
  terminal.parser.registerCsiHandler({ prefix: '?', final: 'l' }, cursorTo(false));
  const waiting = new Set<() => void>();
  let written = 0;
  let raw = false;
  const output = Object.assign(
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        written += chunk.length;
        terminal.write(chunk, () => {
          for (const check of waiting) check();
        });
        done();
      },
    }),
    { columns: cols, rows, isTTY: true },
  );
  const input = Object.assign(new PassThrough(), {
    isTTY: true,
    isRaw: false,
    setRawMode(next: boolean) {
      raw = next;
      input.isRaw = next;
    },
  });
  const lines = () => {
    const { active } = terminal.buffer;
    return Array.from(
      { length: terminal.rows },
      (_, y) => active.getLine(active.baseY + y)?.translateToString(true) ?? '',
    );
  };
  const text = () => lines().join('\n');
  const until = (holds: (text: string) => boolean) =>
    new Promise<void>((done) => {
      const check = () => {
        if (!holds(text())) return;
        waiting.delete(check);
        done();
      };
      waiting.add(check);
      check();
    });
  return {
    streams: { input, output },
    type: (keys) => void input.write(keys),
    resize(nextCols, nextRows) {
      terminal.resize(nextCols, nextRows);
      output.columns = nextCols;
      output.rows = nextRows;
      output.emit('resize');
    },
    lines,
    text,
    until,
    shows: (wanted) => until((now) => now.includes(wanted)),
    modes: () => ({
      raw,
      alternate: terminal.buffer.active.type === 'alternate',
      wrap: terminal.modes.wraparoundMode,
      cursor,
      listeners: input.listenerCount('data') + input.listenerCount('readable'),
      flows: input.readableFlowing === true,
    }),
    written: () => written,
    cell: (x, y) => cellOf(terminal, x, y),
  };
}
