/** Snapshots: names for stacks of layers, with what a sandbox made from them should know. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Call, SnapshotInfo } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { fileError } from '../../store/file-error.ts';
import { readJsonFile, writeJsonFile } from '../../store/json-file.ts';
import { withLock } from '../../store/lock.ts';
import { capture } from './capture.ts';
import { changingRecord } from './change.ts';
import type { Local } from './context.ts';
import { removeTree } from './erase.ts';
import { readInit } from './init-process.ts';
import { collectLayers, usingLayers } from './layers.ts';
import { sandboxLayout } from './layout.ts';
import { startSandbox } from './power.ts';
import { type PartLayers, type SandboxRecord, writeRecord } from './record.ts';
import { OLD_UPPER } from './repair.ts';
import { shutDown } from './shut-down.ts';
import { newId } from './store.ts';

const ID = /^[0-9a-f]{12}$/;

export interface SnapshotRecord extends SnapshotInfo {
  readonly version: 1;
  readonly layers: PartLayers;
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly user?: string | undefined;
  readonly rootfs?: string | undefined;
  readonly rootfsSource?: string | undefined;
}

/** Takes a snapshot of a sandbox in whatever state it is. `conflict` when the name is taken. */
export async function createSnapshot(
  local: Local,
  sandbox: { readonly id: string; readonly name: string },
  options: { readonly name?: string | undefined; readonly labels?: Readonly<Record<string, string>> },
  call: Call,
): Promise<SnapshotInfo> {
  return changingRecord(local, sandbox, 'snapshot', call, (record) =>
    usingLayers(local, call, () =>
      // Names are few and looked up by reading all, so one at a time.
      withLock(local.layout.snapshotsLock, call, async () => {
        const taken = [...allSnapshots(local)].some(
          (other) => other.name === options.name || other.id === options.name,
        );
        if (options.name !== undefined && taken) {
          throw new SbxError('conflict', `there is a snapshot '${options.name}' already`, {
            backend: local.name,
            hint: `sbx snapshot rm ${options.name}`,
          });
        }
        const layers = await capture(local, record, call);
        const snapshot: SnapshotRecord = {
          version: 1,
          id: newId(),
          name: options.name,
          createdAt: new Date().toISOString(),
          sandbox: record.name,
          labels: options.labels ?? {},
          layers,
          env: record.env,
          workdir: record.workdir,
          user: record.user,
          rootfs: record.rootfs,
          rootfsSource: record.rootfsSource,
        };
        writeJsonFile(snapshotPath(local, snapshot.id), snapshot, { durable: false });
        return publicInfo(snapshot);
      }),
    ),
  );
}

/** The files become those of the snapshot; a running sandbox is started again on them. */
export async function restoreSnapshot(
  local: Local,
  sandbox: { readonly id: string; readonly name: string },
  ref: string,
  call: Call,
): Promise<void> {
  await changingRecord(local, sandbox, 'restore', call, async (record) => {
    const files = sandboxLayout(local.layout, record.id);
    const restored = await usingLayers(local, call, async () => {
      const snapshot = findSnapshot(local, ref);
      if (snapshot.rootfs !== record.rootfs) {
        throw new SbxError(
          'conflict',
          `snapshot '${ref}' is of another root file system than sandbox '${record.name}'`,
          {
            backend: local.name,
            hint: `make a sandbox from it: sbx create --from ${ref}`,
          },
        );
      }
      const wasRunning = readInit(files.init) !== undefined;
      await shutDown(local.layout, record.id, 0);
      const old = join(files.work, OLD_UPPER);
      await removeTree(old);
      fs.mkdirSync(files.work, { recursive: true, mode: 0o700 });
      // Until the record says so nothing has happened; after it the old files are rubbish.
      const next: SandboxRecord = { ...record, layers: snapshot.layers };
      writeRecord(files.record, { ...record, restoring: true });
      if (fs.existsSync(files.upper)) fs.renameSync(files.upper, old);
      writeRecord(files.record, next);
      await removeTree(old);
      return { next, wasRunning };
    });
    if (restored.wasRunning) await startSandbox(local, restored.next, call, { main: true });
  });
  await collectLayers(local, call, { dryRun: false });
}

/** All snapshots, in no given order. */
export function* allSnapshots(local: Local): Iterable<SnapshotRecord> {
  let names: string[];
  try {
    names = fs.readdirSync(local.layout.snapshots);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return;
    throw fileError('cannot read', local.layout.snapshots, error);
  }
  for (const name of names) {
    if (!/^[0-9a-f]{12}\.json$/.test(name)) continue;
    try {
      const snapshot = readSnapshot(join(local.layout.snapshots, name));
      if (snapshot !== undefined) yield snapshot;
    } catch (error) {
      // One that is broken must not hide the others.
      if (!(error instanceof SbxError)) throw error;
      local.notice(`${error.message}; remove the snapshot: sbx snapshot rm ${name.slice(0, -5)}`);
    }
  }
}

/** The snapshot in this file; undefined when there is none. @throws SbxError `failed` with the path when it is broken. */
export function readSnapshot(path: string): SnapshotRecord | undefined {
  return readJsonFile(path, validate);
}

/** By name, id, or an unambiguous beginning of an id. `not_found` when there is none. */
export function findSnapshot(local: Local, ref: string): SnapshotRecord {
  const all = [...allSnapshots(local)];
  const exact = all.find((snapshot) => snapshot.id === ref || snapshot.name === ref);
  const matches =
    exact === undefined && ref.length >= 4 ? all.filter((snapshot) => snapshot.id.startsWith(ref)) : [];
  const found = exact ?? (matches.length === 1 ? matches[0] : undefined);
  if (found !== undefined) return found;
  throw new SbxError('not_found', `there is no snapshot '${ref}' on backend '${local.name}'`, {
    backend: local.name,
    hint: 'see what there is: sbx snapshot ls',
  });
}

/** What the outside sees of the snapshot `ref`; by its id also of one whose file is broken, so that it can be removed. */
export function describeSnapshot(local: Local, ref: string): SnapshotInfo {
  const path = snapshotPath(local, ref);
  if (ID.test(ref) && fs.existsSync(path)) {
    try {
      readSnapshot(path);
    } catch (error) {
      if (!(error instanceof SbxError)) throw error;
      local.notice(error.message);
      return { id: ref, createdAt: fs.lstatSync(path).mtime.toISOString(), labels: {} };
    }
  }
  return publicInfo(findSnapshot(local, ref));
}

/** Removes a snapshot, and the layers that nothing else needs. Sandboxes made from it keep theirs. */
export async function removeSnapshot(local: Local, ref: string, call: Call): Promise<void> {
  const own = snapshotPath(local, ref);
  // By its id also when it is broken.
  const path = ID.test(ref) && fs.existsSync(own) ? own : snapshotPath(local, findSnapshot(local, ref).id);
  fs.rmSync(path, { force: true, recursive: true });
  await collectLayers(local, call, { dryRun: false });
}

/** What the outside sees of a snapshot. */
export function publicInfo(snapshot: SnapshotRecord): SnapshotInfo {
  const { id, name, createdAt, sandbox, labels } = snapshot;
  return { id, name, createdAt, sandbox, labels };
}

function snapshotPath(local: Local, id: string): string {
  return join(local.layout.snapshots, `${id}.json`);
}

function validate(value: unknown): SnapshotRecord {
  const snapshot = value as Partial<SnapshotRecord> | null;
  if (typeof snapshot?.id !== 'string' || typeof snapshot.layers !== 'object' || snapshot.version !== 1) {
    throw new Error('it is not the record of a snapshot');
  }
  return snapshot as SnapshotRecord;
}
