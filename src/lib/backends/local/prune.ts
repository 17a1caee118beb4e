/** What nobody needs any more: unused layers and base layers, and what killed clients left. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Call, PrunedItem } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { fileError } from '../../store/file-error.ts';
import { tryLock } from '../../store/lock.ts';
import { BASE_FOLDER } from './base-folders.ts';
import { recover } from './change.ts';
import type { Local } from './context.ts';
import { destroy } from './destroy.ts';
import { removeTree } from './erase.ts';
import { isExpired } from './info.ts';
import { readInit } from './init-process.ts';
import { collectLayers } from './layers.ts';
import { sandboxLayout } from './layout.ts';
import { tryRecord } from './record.ts';
import { allIds } from './store.ts';

/** Milliseconds after which a base layer that is still being built is a dead client's. */
const BUILD_LIMIT_MS = 10 * 60_000;

/** Removes it, or with `dryRun` only tells. */
export async function prune(local: Local, dryRun: boolean, call: Call): Promise<PrunedItem[]> {
  const items: PrunedItem[] = [];
  for (const id of await leftHalfDone(local))
    items.push({ kind: 'half-made sandbox', id, reason: 'its client was killed' });
  if (!dryRun) await recover(local);
  for (const id of allIds(local.layout)) {
    const record = tryRecord(sandboxLayout(local.layout, id).record);
    if (record === undefined || record instanceof SbxError || !isExpired(record)) continue;
    items.push({ kind: 'sandbox', id: record.name, reason: 'its time to live is over' });
    if (!dryRun) await destroy(local, id, true, call);
  }
  for (const id of await collectLayers(local, call, { dryRun: true })) {
    items.push({
      kind: 'layer',
      id,
      reason: 'no sandbox or snapshot needs it',
      size: treeSize(join(local.layout.layers, id)),
    });
  }
  if (!dryRun) await collectLayers(local, call, { dryRun: false });
  for (const name of [...unusedBases(local), ...halfMadeBases(local)]) {
    const path = join(local.layout.root, BASE_FOLDER, name);
    items.push({
      kind: 'base layer',
      id: name,
      reason: name.startsWith('.') ? 'its client was killed' : 'this machine has changed since',
      size: treeSize(path),
    });
    if (!dryRun) await removeTree(path);
  }
  return items;
}

/** Ids whose change was cut short: marked, and held by nobody. */
async function leftHalfDone(local: Local): Promise<string[]> {
  const found: string[] = [];
  for (const id of names(local.layout.pending)) {
    using lock = await tryLock(join(local.layout.pending, id));
    if (lock !== undefined) found.push(id);
  }
  return found;
}

/** A base layer takes moments to build; what is much older is built by nobody any more. */
function halfMadeBases(local: Local): string[] {
  const folder = join(local.layout.root, BASE_FOLDER);
  return names(folder).filter((name) => {
    if (!/^(\.new-|current\.)[0-9a-f]+$/.test(name)) return false;
    const stat = fs.lstatSync(join(folder, name), { throwIfNoEntry: false });
    return stat !== undefined && Date.now() - stat.mtimeMs > BUILD_LIMIT_MS;
  });
}

function unusedBases(local: Local): string[] {
  const folder = join(local.layout.root, BASE_FOLDER);
  const used = new Set<string>();
  for (const id of allIds(local.layout)) {
    try {
      const init = readInit(sandboxLayout(local.layout, id).init);
      if (init !== undefined) used.add(init.base);
    } catch (error) {
      // It may run, on any of them.
      if (error instanceof SbxError) return [];
      throw error;
    }
  }
  const current = names(folder).includes('current')
    ? fs.readFileSync(join(folder, 'current'), 'utf8')
    : undefined;
  return names(folder).filter((name) => /^[0-9a-f]{16}$/.test(name) && name !== current && !used.has(name));
}

function names(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw fileError('cannot read', folder, error);
  }
}

/** Bytes on the disk; what cannot be read does not count. */
export function treeSize(path: string): number {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  const own = stat.blocks * 512;
  if (!stat.isDirectory()) return own;
  try {
    return fs.readdirSync(path).reduce((sum, name) => sum + treeSize(join(path, name)), own);
  } catch (error) {
    if (hasErrno(error, 'EACCES', 'ENOENT')) return own;
    throw error;
  }
}
