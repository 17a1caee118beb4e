/** What a container has changed in its image. Docker Engine API, "ContainerChanges": 0 changed, 1 added, 2 removed. */
import type { Call, FileChange } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { type Box, missing } from './box.ts';
import { segment } from './engine.ts';
import { findSnapshot } from './snapshots.ts';

const KINDS: readonly FileChange['kind'][] = ['changed', 'added', 'removed'];
/** Ours. */
const GUEST_FOLDER = '/var/lib/sbx';
/** Ours, of users who may not write there. */
const USERS_FOLDER = /^\/tmp\/\.sbx-\d+(\/|$)/;

/** Changes since the sandbox was made, sorted by path. `conflict` for a snapshot that it was not made from. */
export async function* changes(box: Box, since: string | undefined, call: Call): AsyncIterable<FileChange> {
  const { docker } = box;
  if (since !== undefined) {
    const { info } = await findSnapshot(docker, since, call);
    if (info.id !== box.facts?.snapshot) {
      throw new SbxError('conflict', `sandbox '${box.name}' was not made from snapshot '${since}'`, {
        backend: docker.name,
        hint: `see all since it was made: sbx diff ${box.name}`,
      });
    }
  }
  const found = (await read(box, call)).filter(
    ({ path }) => !isWithin(path, GUEST_FOLDER) && !USERS_FOLDER.test(path),
  );
  // Those that lead to ours count for what else is in them.
  const folders = new Set(
    found.filter(({ path }) => !isWithin(GUEST_FOLDER, path)).flatMap(({ path }) => foldersOf(path)),
  );
  for (const change of found.sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const holdsOthers = folders.has(change.path);
    // A folder counts as changed for what happened in it, which has a line of its own.
    if (change.kind === 'changed' && (holdsOthers || isWithin(GUEST_FOLDER, change.path))) continue;
    // Made for ours alone.
    if (change.kind === 'added' && !holdsOthers && isWithin(GUEST_FOLDER, change.path)) continue;
    yield change;
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** Every folder that `path` is in, but the root. */
function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(1, -1);
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`);
}

async function read(box: Box, call: Call): Promise<FileChange[]> {
  try {
    const path = `/containers/${segment(box.container)}/changes`;
    const what = `see what sandbox '${box.name}' has changed`;
    const list = (await box.docker.engine.json({ method: 'GET', path, what }, call)) as
      | readonly { readonly Path: string; readonly Kind: number }[]
      | null;
    return (list ?? []).flatMap(({ Path, Kind }) => {
      const kind = KINDS[Kind];
      return kind === undefined ? [] : [{ kind, path: Path }];
    });
  } catch (error) {
    if (error instanceof SbxError && error.code === 'not_found') throw missing(box.docker, box.name, error);
    throw error;
  }
}
