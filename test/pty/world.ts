/** What the tests on real terminals share: the built program, a state of their own, a sandbox. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openTerminal, type Terminal, type TerminalOptions } from '../support/terminal.ts';

/** The built program. */
export const bin = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
const run = promisify(execFile);

/** A state, a home and a PATH in which `sbx` is the built program. */
export interface World extends AsyncDisposable {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Runs sbx without a terminal. @returns its standard output */
  sbx(...args: string[]): Promise<string>;
  /** The same in another environment. */
  sbxIn(env: World['env'], ...args: string[]): Promise<string>;
  /** A terminal with `sbx` on it. */
  open(args: readonly string[], options?: Partial<TerminalOptions>): Terminal;
  /** What was printed on the last terminals, for a test that fails. */
  report(): string;
  /** A terminal with a shell of this machine on it, whose prompt is `outer$ `. */
  shell(options?: Partial<TerminalOptions>): Terminal;
}

/** Makes one; the sandboxes in it are removed at its end. */
export function createWorld(): World {
  const folder = mkdtempSync(join(tmpdir(), 'sbx-pty-'));
  const programs = join(folder, 'bin');
  mkdirSync(programs);
  writeFileSync(join(programs, 'sbx'), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`, {
    mode: 0o755,
  });
  const env = {
    PATH: `${programs}:${process.env.PATH}`,
    HOME: folder,
    LANG: 'C.UTF-8',
    SBX_STATE_DIR: join(folder, 'state'),
    SBX_CONFIG_DIR: join(folder, 'config'),
  };
  const sbxIn = async (other: World['env'], ...args: string[]) =>
    (await run(process.execPath, [bin, ...args], { env: other, cwd: folder })).stdout;
  const sbx = (...args: string[]) => sbxIn(env, ...args);
  const recent: Terminal[] = [];
  const open = (...how: Parameters<typeof openTerminal>) => {
    const terminal = openTerminal(...how);
    recent.push(terminal);
    return terminal;
  };
  return {
    folder,
    env,
    sbx,
    sbxIn,
    report: () =>
      recent
        .slice(-3)
        .map(({ pid, printed }) => `terminal of ${pid}: ${JSON.stringify(printed.slice(-1000))}`)
        .join('\n'),
    open: (args, options) => open([process.execPath, bin, ...args], { env, cwd: folder, ...options }),
    shell: (options) =>
      open(['bash', '--norc', '--noprofile'], {
        cwd: folder,
        ...options,
        env: { ...env, PS1: 'outer$ ', ...options?.env },
      }),
    async [Symbol.asyncDispose]() {
      await sbx('rm', '--all', '--force', '--yes');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The child of a process whose command line holds `word`. */
export function childOf(pid: number, word: string): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const found = children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes(word));
  if (found === undefined) throw new Error(`process ${pid} has no child ${word}`);
  return Number(found);
}
