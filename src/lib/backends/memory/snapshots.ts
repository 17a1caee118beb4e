/** Snapshots of memory sandboxes: copies of their folders. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SnapshotInfo, SnapshotStore } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { randomHex } from '../../util/random-id.ts';
import { checkCall } from './check-call.ts';
import { copyFolder, copyInto, emptyFolder } from './copy-folder.ts';
import { SANDBOX_MARK } from './exec.ts';
import { endMarked } from './host-processes.ts';
import type { Box, MemoryState, Picture } from './state.ts';

/** The snapshots of the whole backend. */
export function snapshotStore(state: MemoryState): SnapshotStore {
  return {
    async *list(call) {
      for (const picture of state.pictures.values()) {
        checkCall(call);
        yield picture.info;
      }
    },
    async get(ref, call) {
      checkCall(call);
      return findPicture(state, ref).info;
    },
    async remove(ref, call) {
      checkCall(call);
      const picture = findPicture(state, ref);
      state.pictures.delete(picture.info.id);
      await rm(picture.folder, { recursive: true, force: true });
    },
  };
}

/** By id, name or unambiguous prefix of an id. @throws SbxError `not_found`, or `usage` for an ambiguous prefix. */
export function findPicture(state: MemoryState, ref: string): Picture {
  const all = [...state.pictures.values()];
  const exact = all.find(({ info }) => info.id === ref) ?? all.find(({ info }) => info.name === ref);
  if (exact !== undefined) return exact;
  const [first, ...others] = ref === '' ? [] : all.filter(({ info }) => info.id.startsWith(ref));
  if (first === undefined) {
    throw new SbxError('not_found', `backend '${state.backend}' has no snapshot '${ref}'`, {
      backend: state.backend,
      hint: 'see what there is: sbx snapshot ls',
    });
  }
  if (others.length > 0) {
    throw new SbxError('usage', `'${ref}' stands for ${others.length + 1} snapshots`, {
      hint: 'sbx snapshot ls',
    });
  }
  return first;
}

/** Copies the files of a sandbox. `conflict` when the name is taken. */
export async function takePicture(
  state: MemoryState,
  box: Box,
  options: { readonly name?: string | undefined; readonly labels?: Readonly<Record<string, string>> },
): Promise<SnapshotInfo> {
  const { name } = options;
  if (name !== undefined && [...state.pictures.values()].some(({ info }) => info.name === name)) {
    throw new SbxError('conflict', `a snapshot named '${name}' exists already`, {
      backend: state.backend,
      hint: `choose another name, or remove it: sbx snapshot rm ${name}`,
    });
  }
  const id = randomHex(6);
  const info: SnapshotInfo = {
    id,
    name,
    createdAt: new Date().toISOString(),
    sandbox: box.name,
    labels: { ...options.labels },
  };
  const folder = join(state.root, `snapshot-${id}`);
  await copyFolder(box.folder, folder);
  state.pictures.set(id, { info, folder, env: { ...box.env }, workdir: box.workdir });
  return info;
}

/** Ends the processes of a sandbox and puts the files of a snapshot in place of its own. */
export async function restorePicture(state: MemoryState, box: Box, ref: string): Promise<void> {
  const picture = findPicture(state, ref);
  await endMarked(SANDBOX_MARK, box.mark, 0);
  await emptyFolder(box.folder);
  await copyInto(picture.folder, box.folder);
  if (box.state === 'paused') box.state = 'stopped';
}
