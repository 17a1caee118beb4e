/** Copies of a sandbox's files, as snapshots and forks need them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { SbxError } from '../../errors.ts';

/** The folder in which guest programs keep their state; it belongs to one sandbox and is never copied. */
export const GUEST_FOLDER = '.sbx';

/** Fills `to`, which it makes, with the files of `from`: modes, times and symlinks kept. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to);
  await copyInto(from, to);
}

/** Adds the files of `from` to the existing folder `to`. */
export async function copyInto(from: string, to: string): Promise<void> {
  const names = await filesOf(from);
  if (names.length > 0) await runHost(['cp', '-a', '--', ...names.map((name) => join(from, name)), `${to}/`]);
}

/** Removes all files of a sandbox but what the guest programs keep. */
export async function emptyFolder(folder: string): Promise<void> {
  await Promise.all(
    (await filesOf(folder)).map((name) => rm(join(folder, name), { recursive: true, force: true })),
  );
}

async function filesOf(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name !== GUEST_FOLDER);
}

async function runHost(argv: readonly [string, ...string[]]): Promise<void> {
  const child = spawn(argv[0], argv.slice(1), { stdio: ['ignore', 'ignore', 'pipe'] });
  const [stderr, [code]] = await Promise.all([buffer(child.stderr), once(child, 'close')]);
  if (code !== 0) throw new SbxError('failed', `${argv[0]} failed: ${stderr.toString().trim()}`);
}
