/** A real terminal for tests: a pty with a program on it, and a screen that shows what the program prints. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';

const run = promisify(execFile);

/** How to start the program. */
export interface TerminalOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly cols?: number;
  readonly rows?: number;
}

/** A terminal with a program on it. */
export interface Terminal extends AsyncDisposable {
  readonly pid: number;
  /** Keys, as bytes in Latin-1 would be; text beyond that is UTF-8. */
  type(keys: string): void;
  /** The rows of the screen, without blanks at their ends. */
  screen(): string[];
  /** The rows above the screen and those on it. */
  scrollback(): string[];
  /** Everything that the program printed. */
  readonly printed: string;
  /** What the terminal has answered to queries. */
  readonly answers: string;
  readonly modes: xterm.IModes;
  /** Whether the alternate screen is shown. */
  readonly alternate: boolean;
  readonly cursor: { readonly x: number; readonly y: number };
  /** Resolves as soon as `check` holds, looked at whenever something was printed; the program ending is a failure. */
  waitFor(check: string | RegExp | ((screen: string) => boolean)): Promise<void>;
  /** How the program ended. */
  readonly ended: Promise<{ readonly exitCode: number; readonly signal?: number }>;
  resize(cols: number, rows: number): void;
  /** Stops and starts reading what the program prints, as a terminal that stalls does. */
  stall(): void;
  goOn(): void;
  /** The terminal settings, as `stty -a` tells. */
  settings(): Promise<string>;
}

/** Starts `argv` on a terminal of 80×24. */
export function openTerminal(argv: readonly [string, ...string[]], options: TerminalOptions): Terminal {
  const { env, cwd, cols = 80, rows = 24 } = options;
  const [file, ...args] = argv;
  const pty: IPty & { readonly ptsName?: string } = spawn(file, args, {
    name: 'xterm-256color',
    cols,
    rows,
    ...(cwd === undefined ? {} : { cwd }),
    env: { TERM: 'xterm-256color', ...env },
  });
  const screen = new xterm.Terminal({ allowProposedApi: true, cols, rows, scrollback: 20_000 });
  let printed = '';
  let answers = '';
  let isOver = false;
  let how = '';
  const waiting = new Set<() => void>();
  const look = () => {
    for (const each of waiting) each();
  };
  pty.onData((data) => {
    printed += data;
    screen.write(data, look);
  });
  screen.onData((data) => {
    answers += data;
    if (!isOver) pty.write(data);
  });
  const ended = new Promise<{ exitCode: number; signal?: number }>((resolve) => {
    pty.onExit((exit) => {
      isOver = true;
      how = `${exit.exitCode}${exit.signal ? `, signal ${exit.signal}` : ''}`;
      // What was printed last is on the screen then.
      screen.write('', () => {
        resolve(exit);
        look();
      });
    });
  });
  const lines = (from: number) => {
    const { active } = screen.buffer;
    const all: string[] = [];
    for (let at = from; at < active.length; at++) {
      all.push(active.getLine(at)?.translateToString(true) ?? '');
    }
    return all;
  };
  const shown = () => lines(screen.buffer.active.baseY);
  return {
    pid: pty.pid,
    ended,
    type: (keys) => pty.write(keys),
    screen: shown,
    scrollback: () => lines(0),
    get printed() {
      return printed;
    },
    get answers() {
      return answers;
    },
    get modes() {
      return screen.modes;
    },
    get alternate() {
      return screen.buffer.active.type === 'alternate';
    },
    get cursor() {
      const { cursorX, cursorY } = screen.buffer.active;
      return { x: cursorX, y: cursorY };
    },
    waitFor(check) {
      const holds =
        typeof check === 'function'
          ? check
          : (text: string) => (typeof check === 'string' ? text.includes(check) : check.test(text));
      return new Promise((resolve, reject) => {
        const one = () => {
          const text = shown().join('\n');
          if (!holds(text) && !isOver) return;
          waiting.delete(one);
          if (holds(text)) resolve();
          else reject(new Error(`it ended (${how}) before ${check} held:\n${lines(0).join('\n').trimEnd()}`));
        };
        waiting.add(one);
        one();
      });
    },
    resize(newCols, newRows) {
      screen.resize(newCols, newRows);
      pty.resize(newCols, newRows);
    },
    stall: () => pty.pause(),
    goOn: () => pty.resume(),
    async settings() {
      const { stdout } = await run('stty', ['-a', '-F', pty.ptsName ?? '']);
      return stdout;
    },
    async [Symbol.asyncDispose]() {
      pty.resume();
      if (!isOver) pty.kill('SIGKILL');
      await ended;
      screen.dispose();
    },
  };
}
