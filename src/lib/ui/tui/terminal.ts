/**
 * The local terminal while a screen has it. Ink gets streams that stand for it, so that letting go of the terminal is
 * one call and leaves nothing behind on the real streams: no listener, no encoding, no raw mode.
 */
import { PassThrough, type Readable, Writable } from 'node:stream';
import type { Size } from './screen.ts';

/** The input of the terminal, as Node's `tty.ReadStream` is. */
export type TerminalInput = Readable & { readonly isRaw?: boolean; setRawMode?(raw: boolean): unknown };
/** The output of the terminal, as Node's `tty.WriteStream` is. */
export type TerminalOutput = Writable & { readonly columns?: number; readonly rows?: number };

/** The real streams. */
export interface TerminalStreams {
  readonly input: TerminalInput;
  readonly output: TerminalOutput;
}

const EMPTY = '\u001b[2J\u001b[H';
/** Alternate screen, no cursor, no wrapping at the right edge: whoever measures a character otherwise spoils one line only. */
const ENTER = `\u001b[?1049h\u001b[?25l\u001b[?7l${EMPTY}`;
/** Everything that Ink or a screen may have switched on, off. */
const LEAVE = '\u001b[?2026l\u001b[?2004l\u001b[0m\u001b[?7h\u001b[?25h\u001b[?1049l';

/** The terminal, taken. Disposing gives it back as it was. */
export interface TakenTerminal extends Disposable {
  /** For Ink. */
  readonly stdin: PassThrough;
  readonly stdout: Writable;
  size(): Size;
  /** Draws. In a window of another size on an empty screen: where terminals put what stood there differs. */
  draw(ink: { clear(): void; render(): void }): void;
}

/** What happens to the terminal. */
export interface TerminalEvents {
  resized(): void;
  /** It was closed, or cannot be written to: with the error, where there is one. */
  gone(error: Error | undefined): void;
}

/** Takes the terminal: raw input, alternate screen. Also given back when the process exits, however it does. */
export function takeTerminal({ input, output }: TerminalStreams, events: TerminalEvents): TakenTerminal {
  const wasRaw = input.isRaw ?? false;
  const wasPaused = input.isPaused() || input.readableFlowing !== true;
  let isGone = false;
  let restored = false;
  const onGone = (error?: Error) => {
    if (isGone) return;
    isGone = true;
    events.gone(error);
  };
  const size = (): Size => ({ cols: output.columns || 80, rows: output.rows || 24 });
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode(raw: boolean) {
      input.setRawMode?.(raw);
      return stdin;
    },
  });
  const onData = (chunk: Buffer) => {
    stdin.write(chunk);
  };
  const stdout = Object.assign(
    new Writable({
      decodeStrings: false,
      write(chunk: string | Buffer, _encoding, done) {
        // Ink draws once more when the process exits, after the terminal was given back.
        if (!isGone && !restored) output.write(chunk);
        done();
      },
    }),
    { isTTY: true, columns: size().cols, rows: size().rows },
  );
  const restore = () => {
    if (restored) return;
    restored = true;
    if (!isGone) output.write(LEAVE);
    input.setRawMode?.(wasRaw);
  };
  process.once('exit', restore);
  input.on('error', onGone);
  input.on('end', onGone);
  output.on('error', onGone);
  input.on('data', onData);
  // A stream that was paused on purpose does not flow again by itself.
  input.resume();
  output.on('resize', events.resized);
  input.setRawMode?.(true);
  output.write(ENTER);
  return {
    stdin,
    stdout,
    size,
    draw(ink) {
      const { cols, rows } = size();
      const differs = cols !== stdout.columns || rows !== stdout.rows;
      if (differs) {
        ink.clear();
        stdout.write(EMPTY);
      }
      stdout.columns = cols;
      stdout.rows = rows;
      ink.render();
      if (differs) stdout.emit('resize');
    },
    [Symbol.dispose]() {
      process.off('exit', restore);
      input.off('data', onData);
      output.off('resize', events.resized);
      if (wasPaused) input.pause();
      restore();
      input.off('error', onGone);
      input.off('end', onGone);
      output.off('error', onGone);
      stdin.destroy();
    },
  };
}
