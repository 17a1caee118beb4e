/** The programs of this machine that the local backend runs, and the environment they get. */
import type { SpawnOptions } from 'node:child_process';

/** Trusted folders only: a sandbox must never choose which `nsenter` runs. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The environment of our own helper programs: nothing of the user's, messages in English. */
export const SYSTEM_ENV: Readonly<Record<string, string>> = { PATH: SYSTEM_PATH, LC_ALL: 'C' };

/** Options of a helper program that must not be reached by the terminal's Ctrl-C. */
export const HELPER: SpawnOptions = { env: SYSTEM_ENV, cwd: '/', detached: true };

/** Whether sbx runs as root on this machine. */
export function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

/** The argv of a program that is killed when this process is: it writes to what the next client will remove. */
export function endsWithUs(argv: readonly string[]): [string, ...string[]] {
  return ['setpriv', '--pdeathsig', 'KILL', '--', ...argv];
}
