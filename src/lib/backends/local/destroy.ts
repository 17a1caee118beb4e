import type { Call } from '../../backend/contract.ts';
import { noSandbox } from '../../backend/no-sandbox.ts';
import { SbxError } from '../../errors.ts';
import { changing } from './change.ts';
import type { Local } from './context.ts';
import { eraseSandbox } from './erase.ts';
import { readInit } from './init-process.ts';
import { collectLayers } from './layers.ts';
import { sandboxLayout } from './layout.ts';
import { tryRecord } from './record.ts';
import { findId, namesOf, releaseName } from './store.ts';

/** Removes a sandbox with its processes and data. `conflict` when it runs and `force` is not set; missing is no error with `force`. */
export async function destroy(local: Local, ref: string, force: boolean, call: Call): Promise<void> {
  const id = findId(local.layout, ref);
  if (id === undefined) {
    if (force) return;
    throw noSandbox(ref, local.name);
  }
  const hadLayers = await changing(local, id, 'removal', call, async () => {
    const files = sandboxLayout(local.layout, id);
    const found = tryRecord(files.record);
    const record = found instanceof SbxError ? undefined : found;
    if (!force && record?.phase === 'ready' && readInit(files.init) !== undefined) {
      throw new SbxError('conflict', `sandbox '${record.name}' is running`, {
        backend: local.name,
        hint: `stop it first, or remove it with its processes: sbx rm --force ${record.name}`,
      });
    }
    await eraseSandbox(local, id, record);
    if (found instanceof SbxError)
      for (const name of namesOf(local.layout, id)) releaseName(local.layout, name, id);
    return (
      record === undefined ||
      record.rootfs !== undefined ||
      record.freezing !== undefined ||
      Object.values(record.layers).some((list) => list.length > 0)
    );
  });
  if (hadLayers) await collectLayers(local, call, { dryRun: false });
}
