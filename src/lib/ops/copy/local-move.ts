/** Moves what a folder holds into another folder, merging directories. */
import type { Dirent, Stats } from 'node:fs';
import { cp, lstat, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasErrno, SbxError } from '../../errors.ts';
import { randomHex } from '../../util/random-id.ts';
import { explain } from './write-error.ts';

/**
 * Moves every entry of `from` into `to`. All conflicts are found before anything moves.
 * @returns the paths, below `to`, of directories that were there already.
 * @throws SbxError `conflict` where one is a directory and the other is not.
 */
export async function moveTree(from: string, to: string): Promise<ReadonlySet<string>> {
  const moves: { readonly from: string; readonly to: string }[] = [];
  const merged = new Set<string>();
  await plan(from, to, '', moves, merged);
  for (const move of moves) await moveOne(move.from, move.to);
  return merged;
}

async function plan(
  from: string,
  to: string,
  below: string,
  moves: { from: string; to: string }[],
  merged: Set<string>,
): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    const there = await statOf(target);
    if (there === undefined) moves.push({ from: source, to: target });
    else if (entry.isDirectory() && there.isDirectory()) {
      merged.add(path);
      await plan(source, target, path, moves, merged);
    } else if (entry.isDirectory() || there.isDirectory()) throw conflict(entry, there, target);
    else moves.push({ from: source, to: target });
  }
}

async function moveOne(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (cause) {
    if (!hasErrno(cause, 'EXDEV')) throw explain(to, cause);
    await moveAcross(from, to);
  }
}

/** To a directory that another file system is mounted on: copied beside its place there, then renamed. */
async function moveAcross(from: string, to: string): Promise<void> {
  const beside = join(dirname(to), `.sbx-${randomHex(8)}`);
  try {
    await cp(from, beside, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    await rename(beside, to);
  } catch (cause) {
    throw explain(to, cause);
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (cause) {
    if (hasErrno(cause, 'ENOENT')) return undefined;
    throw explain(path, cause);
  }
}

function conflict(entry: Dirent, there: Stats, target: string): SbxError {
  const is = there.isDirectory() ? 'a directory' : there.isSymbolicLink() ? 'a symlink' : 'a file';
  const wanted = entry.isDirectory() ? 'a directory' : entry.isSymbolicLink() ? 'a symlink' : 'a file';
  return new SbxError('conflict', `cannot write ${wanted} over '${target}', which is ${is}`, {
    hint: 'nothing was written',
  });
}
