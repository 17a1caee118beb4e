/**
 * FIFOs. Node cannot make one, and starting `mkfifo` takes longer than many a command. So it makes some to spare, which lie in a
 * folder until somebody takes them out. None is used twice: what a command left behind could still write to it.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { hasErrno, SbxError } from '../errors.ts';
import { randomHex } from '../util/random-id.ts';

/** How many are made to spare when one is lacking, unless so many commands do it at once that there are plenty. */
const SPARE = 50;
const PLENTY = 100;

/** What making FIFOs takes. */
export interface FifoMaker {
  /** The folder of those that wait to be taken; made where it is missing, not with those above it. */
  readonly spare: string;
  /** The environment of `mkfifo`. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Makes FIFOs (0600) at these paths, on the file system of `spare`, where nothing is yet. Those that were made stay when it fails.
 * Errors of the file system are thrown as they are.
 */
export function makeFifos(paths: readonly string[], { spare, env }: FifoMaker): void {
  const taken = takeSpare(spare, paths);
  if (taken === paths.length) return;
  makeFolder(spare);
  const count = readdirSync(spare).length > PLENTY ? 0 : SPARE;
  const more = Array.from({ length: count }, () => join(spare, `.new-${randomHex(6)}`));
  runMkfifo([...paths.slice(taken), ...more], env);
  // Others take what has no dot, so it loses it when it is whole.
  for (const path of more) renameSync(path, join(spare, randomHex(6)));
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!hasErrno(error, 'EEXIST')) throw error;
  }
}

/** Gives spare FIFOs these names, from the first on. @returns how many there were. */
function takeSpare(spare: string, paths: readonly string[]): number {
  let taken = 0;
  try {
    for (const name of readdirSync(spare)) {
      const path = paths[taken];
      if (path === undefined) break;
      if (name.startsWith('.')) continue;
      try {
        // Two at once: a rename succeeds for one of them.
        renameSync(join(spare, name), path);
        taken++;
      } catch (error) {
        if (!hasErrno(error, 'ENOENT')) throw error;
      }
    }
  } catch (error) {
    if (!hasErrno(error, 'ENOENT')) throw error;
  }
  return taken;
}

function runMkfifo(paths: readonly string[], env: FifoMaker['env']): void {
  try {
    execFileSync('mkfifo', ['-m', '600', ...paths], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (cause) {
    const { signal, stderr } = cause as { signal?: string | null; stderr?: Buffer };
    // The terminal's Ctrl-C is for all programs in front of it.
    if (typeof signal === 'string') throw new SbxError('interrupted', 'interrupted', { cause });
    throw new SbxError('failed', `cannot make pipes: ${String(stderr ?? cause).trim()}`, { cause });
  }
}
