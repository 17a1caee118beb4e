/** Layers: read-only trees shared by sandboxes and snapshots. A freeze makes one of a sandbox's upper folder without copying. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Call } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { fileError } from '../../store/file-error.ts';
import { readJsonFile } from '../../store/json-file.ts';
import { acquireLock } from '../../store/lock.ts';
import type { Local } from './context.ts';
import { removeTree } from './erase.ts';
import { sandboxLayout } from './layout.ts';
import { type PartLayers, readRecord } from './record.ts';
import { allIds } from './store.ts';

/** `layers` with `layer` on top of every part that it has. */
export function withLayer(local: Local, layers: PartLayers, layer: string): PartLayers {
  const folder = join(local.layout.layers, layer);
  const parts = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
  const result: Record<string, readonly string[]> = { ...layers };
  for (const part of parts) result[part] = [layer, ...(layers[part] ?? [])];
  return result;
}

/** Runs `use` while no unused layer is removed: from looking one up until a record names it. */
export async function usingLayers<T>(local: Local, call: Call, use: () => Promise<T>): Promise<T> {
  using _lock = await acquireLock(local.layout.layersLock, call, { shared: true, purpose: 'using layers' });
  return await use();
}

/** Removes the layers that no sandbox and no snapshot names; returns their ids. With `dryRun` only looks. */
export async function collectLayers(
  local: Local,
  call: Call,
  options: { readonly dryRun: boolean },
): Promise<string[]> {
  using _lock = await acquireLock(local.layout.layersLock, call, { purpose: 'removing unused layers' });
  let used: Set<string>;
  try {
    used = usedLayers(local);
  } catch (error) {
    if (!(error instanceof SbxError)) throw error;
    // What the broken record needs cannot be told, so nothing is taken away from it.
    local.notice(`unused layers stay: ${error.message}`);
    return [];
  }
  const unused = listFolder(local.layout.layers).filter((id) => !used.has(id));
  if (!options.dryRun) for (const id of unused) await removeTree(join(local.layout.layers, id));
  return unused;
}

function usedLayers(local: Local): Set<string> {
  const used = new Set<string>();
  const add = (layers: PartLayers | undefined) => {
    for (const list of Object.values(layers ?? {})) for (const id of list) used.add(id);
  };
  const addRootfs = (path: string | undefined) => {
    if (path?.startsWith(`${local.layout.layers}/`))
      used.add(path.slice(local.layout.layers.length + 1).split('/')[0] ?? '');
  };
  for (const id of allIds(local.layout)) {
    const record = readRecord(sandboxLayout(local.layout, id).record);
    add(record?.layers);
    addRootfs(record?.rootfs);
    if (record?.freezing !== undefined) used.add(record.freezing);
  }
  for (const name of listFolder(local.layout.snapshots)) {
    const snapshot = readJsonFile(
      join(local.layout.snapshots, name),
      (value) => value as { layers?: PartLayers; rootfs?: string },
    );
    add(snapshot?.layers);
    addRootfs(snapshot?.rootfs);
  }
  return used;
}

function listFolder(path: string): string[] {
  try {
    return fs.readdirSync(path).filter((name) => !name.startsWith('.'));
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw fileError('cannot read', path, error);
  }
}
