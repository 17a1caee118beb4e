/** What a sandbox has changed: its upper folder and its own layers against what lies below. Reads names only and follows nothing. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { FileChange } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { ensureBase } from './base.ts';
import { BASE_FOLDER } from './base-folders.ts';
import type { Local } from './context.ts';
import { GUEST_FOLDER, sandboxLayout } from './layout.ts';
import { partsOf } from './parts.ts';
import type { PartLayers, SandboxRecord } from './record.ts';
import { findSnapshot } from './snapshots.ts';

/** Changes since the sandbox was made, or since snapshot `since`, sorted by path. */
export async function* changes(
  local: Local,
  record: SandboxRecord,
  since: string | undefined,
): AsyncIterable<FileChange> {
  const below = since === undefined ? record.base : findSnapshot(local, since).layers;
  const base = await ensureBase(local.layout);
  const found: FileChange[] = [];
  for (const part of partsOf(record)) {
    const layers = record.layers[part.name] ?? [];
    const shared = sharedTail(layers, below, part.name);
    const folder = (id: string) => join(local.layout.layers, id, part.name);
    const own = [
      join(sandboxLayout(local.layout, record.id).upper, part.name),
      ...layers.slice(0, layers.length - shared).map(folder),
    ];
    const lower = [
      ...layers.slice(layers.length - shared).map(folder),
      join(local.layout.root, BASE_FOLDER, base, part.base ?? part.name),
    ];
    if (part.host !== undefined) lower.push(part.host);
    collect(own, lower, '', part.path, found);
  }
  yield* found.filter((change) => change.path !== GUEST_FOLDER).sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** How many layers at the bottom of the sandbox's stack are those below. */
function sharedTail(layers: readonly string[], below: PartLayers, part: string): number {
  const other = below[part] ?? [];
  const tail = layers.slice(layers.length - other.length);
  if (tail.length === other.length && tail.every((id, index) => id === other[index])) return other.length;
  throw new SbxError('conflict', 'the sandbox was not made from that snapshot and has not passed it', {
    hint: 'sbx snapshot ls',
  });
}

type Entry = 'folder' | 'removed' | 'file';

function collect(
  own: readonly string[],
  lower: readonly string[],
  path: string,
  prefix: string,
  found: FileChange[],
): void {
  const names = new Set<string>();
  for (const root of own) for (const name of list(join(root, path))) names.add(name);
  for (const name of names) {
    const inner = join(path, name);
    const shown = join(prefix, inner);
    const kind = topmost(own, inner);
    const wasThere = below(lower, inner);
    if (kind === 'removed') {
      if (wasThere !== undefined) found.push({ kind: 'removed', path: shown });
      continue;
    }
    if (wasThere === undefined) found.push({ kind: 'added', path: shown });
    else if (kind === 'file' || wasThere === 'file') found.push({ kind: 'changed', path: shown });
    if (kind === 'folder') collect(own, lower, inner, prefix, found);
  }
}

function topmost(roots: readonly string[], path: string): Entry | undefined {
  for (const root of roots) {
    const entry = entryAt(join(root, path));
    if (entry !== undefined) return entry;
  }
  return undefined;
}

/** What the lower layers show at `path`: a removal in a higher one hides all that is below. */
function below(roots: readonly string[], path: string): Exclude<Entry, 'removed'> | undefined {
  const parts = path.split('/').filter((part) => part !== '');
  for (const root of roots) {
    let place = root;
    for (const [index, part] of parts.entries()) {
      place = join(place, part);
      const entry = entryAt(place);
      if (entry === undefined) break;
      if (entry === 'removed') return undefined;
      if (index === parts.length - 1) return entry;
      if (entry === 'file') return undefined;
    }
  }
  return undefined;
}

function entryAt(path: string): Entry | undefined {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  // How an overlay mount notes a removal.
  if (stat.isCharacterDevice() && stat.rdev === 0) return 'removed';
  return stat.isDirectory() ? 'folder' : 'file';
}

function list(path: string): string[] {
  try {
    return fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true ? fs.readdirSync(path) : [];
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return [];
    if (hasErrno(error, 'EACCES')) {
      throw new SbxError(
        'failed',
        'the sandbox has folders of its other users that only root may look into',
        { hint: 'run sbx as root' },
      );
    }
    throw error;
  }
}
