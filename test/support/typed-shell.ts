/** A shell in a real terminal: keys in, and what stands on the screen out. */
import pty from '@lydell/node-pty';
import xterm from '@xterm/headless';

/** A shell that somebody sits in front of. */
export interface TypedShell extends AsyncDisposable {
  type(keys: string): void;
  /** Resolves once the line up to the cursor is that one; rejects with the screen when it never is. */
  line(text: string): Promise<void>;
  /** Resolves once this stands on the screen. */
  shows(text: string): Promise<void>;
  /** The lines of the screen. */
  screen(): readonly string[];
  /** All that the shell has sent. */
  raw(): string;
}

/** So long does a shell have until what a test waits for stands on the screen. */
const PATIENCE_MS = 20_000;

export interface TypedShellOptions {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Starts a shell; wait for its prompt with `line`. */
export function typedShell({ argv: [file, ...args], env, cwd }: TypedShellOptions): TypedShell {
  const size = { cols: 100, rows: 30 };
  const screen = new xterm.Terminal({ ...size, allowProposedApi: true });
  const child = pty.spawn(file, args, { ...size, name: 'xterm-256color', cwd, env: { ...env } });
  let raw = '';
  let ended = false;
  const checks = new Set<() => void>();
  const check = () => {
    for (const each of checks) each();
  };
  // Some shells ask the terminal what it is, and wait for the answer.
  screen.onData((answer) => child.write(answer));
  child.onData((data) => {
    raw += data;
    screen.write(data, check);
  });
  const gone = new Promise<void>((resolve) => {
    child.onExit(() => {
      ended = true;
      check();
      resolve();
    });
  });
  const lines = () => {
    const { active } = screen.buffer;
    return Array.from(
      { length: size.rows },
      (_, y) => active.getLine(active.baseY + y)?.translateToString(true) ?? '',
    );
  };
  const upToCursor = () => {
    const { active } = screen.buffer;
    return active.getLine(active.baseY + active.cursorY)?.translateToString(false, 0, active.cursorX) ?? '';
  };
  const until = (what: string, holds: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const late = AbortSignal.timeout(PATIENCE_MS);
      const look = () => {
        if (!holds() && !ended && !late.aborted) return;
        checks.delete(look);
        if (holds()) resolve();
        else reject(new Error(`not ${what}, but:\n${lines().join('\n').trimEnd()}`));
      };
      checks.add(look);
      late.addEventListener('abort', look);
      look();
    });
  return {
    type: (keys) => child.write(keys),
    line: (text) => until(`the line ${JSON.stringify(text)}`, () => upToCursor() === text),
    shows: (text) => until(`showing ${JSON.stringify(text)}`, () => lines().join('\n').includes(text)),
    screen: lines,
    raw: () => raw,
    async [Symbol.asyncDispose]() {
      if (!ended) child.kill('SIGKILL');
      await gone;
      screen.dispose();
    },
  };
}
