/** The local backend: sandboxes on this machine, made with namespaces and overlay mounts. Linux only. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend } from '../../backend/contract.ts';
import type { BackendOptions } from '../../backend/registry.ts';
import { SbxError } from '../../errors.ts';
import type { Local } from './context.ts';
import { brokenInfo, describe, isExpired } from './info.ts';
import { openSandbox } from './isolation.ts';
import { layoutAt, sandboxLayout } from './layout.ts';
import { openListing } from './listing.ts';
import { manifest } from './manifest.ts';
import { tryRecord } from './record.ts';
import { matches } from './sandbox.ts';
import { allIds, findId, findRecord, presentRecord } from './store.ts';

/** Opens the backend; touches no file. */
export function openLocalBackend(
  options: Pick<BackendOptions, 'name' | 'notice'> & { readonly paths: { readonly state: string } },
): Backend {
  const local: Local = {
    name: options.name,
    layout: layoutAt(join(options.paths.state, 'local')),
    notice: options.notice,
  };
  const { name, layout } = local;
  /** What a killed client left of it would be in the way: it may be frozen. */
  const recover = async (id: string): Promise<boolean> => {
    if (!existsSync(join(layout.pending, id))) return false;
    await (await import('./change.ts')).recoverOne(local, id);
    return true;
  };
  return {
    name,
    manifest,
    create: async (spec, call, furnish) => (await import('./create.ts')).create(local, spec, call, furnish),
    async get(ref) {
      const id = findId(layout, ref);
      const found = id === undefined ? undefined : tryRecord(sandboxLayout(layout, id).record);
      // One whose record is broken can still be looked at and removed.
      if (id !== undefined && found instanceof SbxError) return openSandbox(local, { id, name: ref });
      const changed = id !== undefined && (await recover(id));
      const record =
        changed || found instanceof SbxError
          ? findRecord(layout, ref, name)
          : presentRecord(found, ref, name);
      if (isExpired(record)) {
        throw new SbxError('not_found', `sandbox '${ref}' has expired`, {
          backend: name,
          hint: 'make another one: sbx create',
        });
      }
      return openSandbox(local, record);
    },
    async *list(query, call) {
      if (existsSync(layout.pending)) await (await import('./change.ts')).recover(local);
      const ids = allIds(layout);
      const listing = openListing(layout, ids);
      for (const id of ids) {
        const { record, init } = listing.read(id);
        if (record instanceof SbxError) {
          const info = brokenInfo(local, id, record);
          local.notice(`${record.message}; ${record.hint}`);
          if (matches(query, info.state, info.labels)) yield info;
          continue;
        }
        if (record === undefined || record.phase === 'removing') continue;
        if (isExpired(record)) {
          await (await import('./destroy.ts')).destroy(local, id, true, call);
          continue;
        }
        const info = describe(local, record, init);
        if (matches(query, info.state, info.labels)) yield info;
      }
      await listing.save();
    },
    destroy: async (ref, { force }, call) => (await import('./destroy.ts')).destroy(local, ref, force, call),
    check: async (call) => (await import('./check.ts')).checkLocal(layout.root, call),
    can: {
      snapshots: {
        async *list() {
          const { allSnapshots, publicInfo } = await import('./snapshots.ts');
          for (const snapshot of allSnapshots(local)) yield publicInfo(snapshot);
        },
        async get(ref) {
          return (await import('./snapshots.ts')).describeSnapshot(local, ref);
        },
        remove: async (ref, call) => (await import('./snapshots.ts')).removeSnapshot(local, ref, call),
      },
      prune: async ({ dryRun }, call) => (await import('./prune.ts')).prune(local, dryRun, call),
    },
  };
}
