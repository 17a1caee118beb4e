/** Removes what nothing needs any more, on one or all backends. */
import type { Call, PrunedItem } from '../backend/contract.ts';
import type { Backends } from '../backend/registry.ts';
import { SbxError } from '../errors.ts';

/** Something that was removed, or would be. */
export interface PruneRow extends PrunedItem {
  readonly backend: string;
}

/** A backend that failed. */
export interface PruneFailure {
  readonly backend: string;
  readonly error: SbxError;
}

/** What was done. Backends that cannot prune have nothing to prune that sbx knows of. */
export interface PruneResult {
  readonly items: readonly PruneRow[];
  readonly failures: readonly PruneFailure[];
}

/**
 * Prunes the named backends one after the other; one that fails does not stop the others.
 * Rejects only when interrupted.
 */
export async function prune(
  backends: Backends,
  names: readonly string[],
  dryRun: boolean,
  call: Call,
): Promise<PruneResult> {
  const items: PruneRow[] = [];
  const failures: PruneFailure[] = [];
  for (const name of names) {
    try {
      const backend = await backends.get(name);
      const pruned = (await backend.can.prune?.({ dryRun }, call)) ?? [];
      items.push(...pruned.map((item) => ({ backend: name, ...item })));
    } catch (error) {
      if (!(error instanceof SbxError) || error.code === 'interrupted' || call.signal.aborted) throw error;
      failures.push({ backend: name, error });
    }
  }
  return { items, failures };
}

/** Bytes in all, of those items whose size is known. */
export function prunedBytes(items: readonly PrunedItem[]): number {
  return items.reduce((sum, { size }) => sum + (size ?? 0), 0);
}
