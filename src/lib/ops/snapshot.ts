/** The snapshots of all backends that have them, side by side. */
import type { Backend, Call, SnapshotInfo, SnapshotStore } from '../backend/contract.ts';
import { needOfBackend } from '../backend/need.ts';
import type { Backends } from '../backend/registry.ts';
import { SbxError } from '../errors.ts';
import type { BackendFailure } from './list.ts';
import { backendOf, type ResolveContext, splitRef } from './resolve-sandbox.ts';

/** A snapshot and the backend that keeps it. */
export interface OwnedSnapshot extends SnapshotInfo {
  readonly backend: string;
}

/** The snapshots, the newest first, and the backends that could not be asked. */
export interface SnapshotListing {
  readonly snapshots: readonly OwnedSnapshot[];
  readonly failures: readonly BackendFailure[];
}

/** Lists those of `chosen`, which must have snapshots, or of every backend that has them. */
export async function listSnapshots(
  backends: Backends,
  chosen: string | undefined,
  call: Call,
): Promise<SnapshotListing> {
  const failures: BackendFailure[] = [];
  const names = chosen === undefined ? backends.names() : [chosen];
  const lists = await Promise.all(
    names.map(async (name) => {
      try {
        const backend = await backends.get(name);
        const store =
          chosen === undefined ? backend.can.snapshots : needOfBackend(backend, 'snapshots', backends.having);
        return store === undefined ? [] : await collect(backend, store, call);
      } catch (error) {
        if (!(error instanceof SbxError) || chosen !== undefined || call.signal.aborted) throw error;
        // Whether a server has snapshots is known once it was asked.
        if (error.code !== 'unsupported') failures.push({ backend: name, error });
        return [];
      }
    }),
  );
  const snapshots = lists
    .flat()
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0));
  return { snapshots, failures };
}

async function collect(backend: Backend, store: SnapshotStore, call: Call): Promise<OwnedSnapshot[]> {
  const found: OwnedSnapshot[] = [];
  for await (const info of store.list(call)) found.push({ ...info, backend: backend.name });
  return found;
}

/** Where `[BACKEND/]SNAPSHOT` is kept, and what it is called there. */
export async function snapshotStore(
  context: Pick<ResolveContext, 'backends' | 'settings'>,
  ref: string,
): Promise<{ readonly backend: Backend; readonly store: SnapshotStore; readonly name: string }> {
  const parts = splitRef(ref);
  const backend = await backendOf(context, parts);
  const { having } = await context.backends();
  return { backend, store: needOfBackend(backend, 'snapshots', having), name: parts.name };
}
