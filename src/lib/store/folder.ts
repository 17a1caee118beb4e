/** Folders that hold what is ours. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { hasErrno } from '../errors.ts';
import { fileError } from './file-error.ts';

/** Makes a folder of ours and those above it, 0700. @throws SbxError `failed` with the path. */
export function ensureFolder(path: string): void {
  try {
    make(path);
  } catch (error) {
    throw fileError('cannot make the folder', path, error);
  }
}

/** Not by node's own `recursive`: where a folder exists and takes no new ones, as below /proc, that tries for ever. */
function make(path: string): void {
  const missing = makeOne(path);
  if (missing === undefined) return;
  const parent = dirname(path);
  if (parent === path) throw missing;
  if (statSync(parent, { throwIfNoEntry: false }) === undefined) make(parent);
  const stillMissing = makeOne(path);
  if (stillMissing !== undefined) throw stillMissing;
}

/** Somebody else may make the same one at the same time. @returns the error of a folder above that is not there. */
function makeOne(path: string): Error | undefined {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return error as Error;
    if (!hasErrno(error, 'EEXIST') || !statSync(path).isDirectory()) throw error;
  }
  return undefined;
}
