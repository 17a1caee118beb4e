/** Sandboxes for guest programs: processes of this machine with the tools of one family only. No wall of any kind. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll } from 'vitest';
import type { ExecSpec, Exit, Running, SignalName } from '../../src/lib/backend/contract.ts';
import type { ExecSandbox } from '../../src/lib/backend/derived/run-guest.ts';

export type Family = 'gnu' | 'busybox';

/** Whether this machine has the tools of `family`. */
export function hasFamily(family: Family): boolean {
  return find(family === 'gnu' ? 'tar' : 'busybox') !== undefined;
}

/** What to change about the tools. */
export interface ShellOptions {
  readonly without?: readonly string[];
  /** Further programs of this machine, by name or path. With these, a GNU shell has nothing but a few basic tools and them. */
  readonly with?: readonly string[];
  /** Run as this uid; needs root. */
  readonly uid?: number;
}

const paths = new Map<string, string>();
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A sandbox whose commands are those of `family` and run in `workdir`. */
export function guestShell(family: Family, workdir: string, options: ShellOptions = {}): ExecSandbox {
  const { without = [], with: more = [] } = options;
  const key = JSON.stringify([family, without, more]);
  const path = paths.get(key) ?? (family === 'gnu' ? gnuPath(without, more) : busyboxPath(without, more));
  paths.set(key, path);
  const shell = family === 'gnu' ? ['/bin/sh'] : [find('busybox') ?? 'busybox', 'sh'];
  return {
    name: family,
    backend: 'test',
    async exec(spec) {
      return start(shell, path, workdir, spec, options.uid);
    },
  };
}

function start(
  shell: readonly string[],
  path: string,
  workdir: string,
  spec: ExecSpec,
  uid: number | undefined,
): Running {
  const argv = spec.argv[0] === '/bin/sh' ? [...shell, ...spec.argv.slice(1)] : [...spec.argv];
  const child: ChildProcess = spawn(argv[0] ?? '', argv.slice(1), {
    cwd: spec.workdir ?? workdir,
    env: { ...spec.env, PATH: path },
    stdio: [spec.stdin === 'pipe' ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    detached: true,
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const ended = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) =>
      resolve(code === null ? { signal: (signal ?? 'KILL').slice(3) } : { code }),
    );
  });
  const send = async (name: SignalName): Promise<void> => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    process.kill(-child.pid, constants.signals[`SIG${name}` as keyof typeof constants.signals]);
  };
  return {
    ...(child.stdin === null ? {} : { stdin: child.stdin }),
    ...(child.stdout === null ? {} : { stdout: child.stdout }),
    ...(child.stderr === null ? {} : { stderr: child.stderr }),
    signal: send,
    terminate: () => send('KILL'),
    wait: () => ended,
  };
}

function gnuPath(without: readonly string[], more: readonly string[]): string {
  if (without.length === 0 && more.length === 0) return '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';
  const folder = toolFolder();
  for (const name of [
    'sh',
    'cat',
    'stat',
    'readlink',
    'find',
    'mv',
    'rm',
    'mkdir',
    'chmod',
    'head',
    'sleep',
    'cksum',
    'tar',
    'dirname',
    ...more,
  ]) {
    const path = find(name);
    if (path !== undefined && !without.includes(name)) symlinkSync(path, join(folder, basename(name)));
  }
  return folder;
}

function busyboxPath(without: readonly string[], more: readonly string[]): string {
  const busybox = find('busybox');
  const folder = toolFolder();
  if (busybox === undefined) return folder;
  for (const name of execFileSync(busybox, ['--list'], { encoding: 'utf8' }).split('\n')) {
    if (name !== '' && !without.includes(name)) symlinkSync(busybox, join(folder, name));
  }
  for (const name of more) {
    const path = find(name);
    if (path !== undefined) symlinkSync(path, join(folder, basename(name)));
  }
  return folder;
}

function find(name: string): string | undefined {
  try {
    return execFileSync('/bin/sh', ['-c', 'command -v "$1"', 'sh', name], { encoding: 'utf8' }).trim();
  } catch (error) {
    if (error instanceof Error && 'status' in error) return undefined;
    throw error;
  }
}

/** A folder for links to programs, gone when the tests end. */
function toolFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sbx-tools-'));
  // Other users run these programs too.
  chmodSync(folder, 0o755);
  folders.push(folder);
  return folder;
}
