/** Folders that hold what is ours. */
import { mkdirSync } from 'node:fs';
import { fileError } from './file-error.ts';

/** Makes a folder of ours and those above it, 0700. @throws SbxError `failed` with the path. */
export function ensureFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw fileError('cannot make the folder', path, error);
  }
}
