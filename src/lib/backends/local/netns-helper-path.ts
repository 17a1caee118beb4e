/** Where the helper program lies: beside this file when run from source, in the built package otherwise. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SbxError } from '../../errors.ts';

const BUILT = 'lib/backends/local/netns-helper.entry.js';
/** Built code lies in dist/, dist/chunks/ or dist/commands/TOPIC/. */
const DEEPEST = 3;

/** Absolute path of a program that the running Node can start. */
export function helperPath(): string {
  const beside = join(import.meta.dirname, 'netns-helper.entry.ts');
  if (existsSync(beside)) return beside;
  let folder = import.meta.dirname;
  for (let depth = 0; depth < DEEPEST; depth++, folder = dirname(folder)) {
    const built = join(folder, BUILT);
    if (existsSync(built)) return built;
  }
  throw new SbxError('failed', `this installation of sbx is incomplete: ${BUILT} is missing`, {
    hint: 'install sbx again',
  });
}
