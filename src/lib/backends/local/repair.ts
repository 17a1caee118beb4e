import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Local } from './context.ts';
import { eraseSandbox } from './erase.ts';
import { isAlive, readLastInit } from './init-process.ts';
import { withLayer } from './layers.ts';
import { sandboxLayout } from './layout.ts';
import { readRecord, type SandboxRecord, writeRecord } from './record.ts';
import { endHelpers, shutDown } from './shut-down.ts';
import { thaw } from './suspend.ts';

/**
 * Brings a sandbox whose last change may have been cut short into a whole state: half-made and half-removed ones go,
 * a freeze that had moved the files is finished. Call with its lock held.
 */
export async function repair(local: Local, id: string): Promise<void> {
  const files = sandboxLayout(local.layout, id);
  if (!fs.existsSync(files.folder)) return;
  const record = readRecord(files.record);
  if (record === undefined || record.phase !== 'ready') {
    await eraseSandbox(local, id, record);
    return;
  }
  const init = readLastInit(files.init);
  if (record.freezing !== undefined) await finishMove(local, record);
  else if (init !== undefined && isAlive(init) && !init.paused) thaw(init);
  if (init !== undefined && !isAlive(init)) endHelpers(files.init, init);
}

/** Parts that had been moved to the layer are read from there from now on; whoever still writes to them has to stop. */
async function finishMove(local: Local, record: SandboxRecord): Promise<void> {
  const files = sandboxLayout(local.layout, record.id);
  const { freezing, ...rest } = record;
  if (freezing === undefined || !fs.existsSync(join(local.layout.layers, freezing))) {
    writeRecord(files.record, rest);
    return;
  }
  await shutDown(files.init, 0);
  writeRecord(files.record, { ...rest, layers: withLayer(local, rest.layers, freezing) });
}
