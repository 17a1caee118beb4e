/** Finishing or undoing what a client that was killed has left half done in one sandbox. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { SbxError } from '../../errors.ts';
import { tryLock } from '../../store/lock.ts';
import type { Local } from './context.ts';
import { eraseSandbox, removeTree } from './erase.ts';
import { type InitProcess, readInit } from './init-process.ts';
import { withLayer } from './layers.ts';
import { type SandboxLayout, sandboxLayout } from './layout.ts';
import { readRecord, type SandboxRecord, writeRecord } from './record.ts';
import { shutDown } from './shut-down.ts';
import { releaseName } from './store.ts';
import { thaw } from './suspend.ts';
import { keepTime } from './time-to-live.ts';
import { readUnsettled } from './unsettled.ts';

/** Where a restore puts the old files until the record says that they are rubbish. */
export const OLD_UPPER = '.old-upper';
/** Names in a sandbox's folder that last no longer than one change. */
const PASSING = /^(\.(record|init|unsettled)\.json\..*\.tmp|fstab\..*)$/;

/**
 * Brings a sandbox whose last change may have been cut short into a whole state: half-made and half-removed ones go,
 * a half-done start or stop ends in a stop, a freeze that had moved the files is finished. Call with its lock held.
 */
export async function repair(local: Local, id: string): Promise<void> {
  const files = sandboxLayout(local.layout, id);
  if (!fs.existsSync(files.folder)) return;
  const record = readRecord(files.record);
  if (record === undefined || record.phase !== 'ready') {
    await eraseSandbox(local, id, record);
    return;
  }
  const init = livingInit(files);
  const lives = init !== undefined && readUnsettled(files.unsettled) === undefined;
  if (!lives) await shutDown(local.layout, id, 0);
  let present = record;
  if (present.freezing !== undefined) present = await finishMove(local, present);
  else if (lives && !init.paused) thaw(id, init);
  if (present.restoring !== undefined) undoRestore(files, present);
  if (record.otherName !== undefined) {
    releaseName(local.layout, record.otherName, id);
    writeRecord(files.record, { ...present, restoring: undefined, otherName: undefined });
  }
  await removeRubbish(files, lives);
  if (lives) keepTime(files, record);
}

/** The init process, if it is known and runs. */
function livingInit(files: SandboxLayout): InitProcess | undefined {
  try {
    return readInit(files.init);
  } catch (error) {
    if (error instanceof SbxError) return undefined;
    throw error;
  }
}

/** Parts that had been moved to the layer are read from there from now on; whoever still writes to them has to stop. */
async function finishMove(local: Local, record: SandboxRecord): Promise<SandboxRecord> {
  const { freezing, ...rest } = record;
  const done = freezing === undefined || !fs.existsSync(join(local.layout.layers, freezing));
  if (!done) await shutDown(local.layout, record.id, 0);
  const next = done ? rest : { ...rest, layers: withLayer(local, rest.layers, freezing) };
  writeRecord(sandboxLayout(local.layout, record.id).record, next);
  return next;
}

/** The record still names the old layers, so the old files belong on top of them. */
function undoRestore(files: SandboxLayout, record: SandboxRecord): void {
  const old = join(files.work, OLD_UPPER);
  if (fs.existsSync(old) && !fs.existsSync(files.upper)) fs.renameSync(old, files.upper);
  writeRecord(files.record, { ...record, restoring: undefined });
}

/** Removes what a client that was killed had written of a snapshot, unless somebody takes one now. */
export async function removeHalfSnapshots({ layout }: Local): Promise<void> {
  using lock = await tryLock(layout.snapshotsLock);
  if (lock === undefined) return;
  for (const name of fs.readdirSync(layout.snapshots))
    if (/^\.[0-9a-f]{12}\.json\..*\.tmp$/.test(name))
      fs.rmSync(join(layout.snapshots, name), { force: true });
}

async function removeRubbish(files: SandboxLayout, lives: boolean): Promise<void> {
  for (const name of fs.readdirSync(files.folder))
    if (PASSING.test(name)) fs.rmSync(join(files.folder, name), { force: true });
  // Some may have been taken by a client that was killed; without an init process there is no command that has them.
  if (!lives) fs.rmSync(files.pipes, { recursive: true, force: true });
  if (!fs.existsSync(files.work)) return;
  for (const name of fs.readdirSync(files.work))
    if (name.startsWith('.old-')) await removeTree(join(files.work, name));
}
