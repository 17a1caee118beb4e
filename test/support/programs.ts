/** Programs of this machine that tests use. */
import { spawnSync } from 'node:child_process';

/** Where a program is in the PATH; undefined when it is nowhere there. */
export function which(name: string): string | undefined {
  const { status, stdout } = spawnSync('sh', ['-c', 'command -v "$1"', 'sh', name], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** Those of `names` that are missing, for the name of a skipped test; undefined when all are there. */
export function lacking(...names: readonly string[]): string | undefined {
  const missing = names.filter((name) => which(name) === undefined);
  return missing.length === 0 ? undefined : missing.join(', ');
}
