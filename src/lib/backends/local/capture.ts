/**
 * Makes a layer of what a sandbox has changed. Nothing is copied where the upper folder can simply become the layer:
 * always in a stopped sandbox, and in a running one for every part that no process holds open for writing.
 */
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Call } from '../../backend/contract.ts';
import type { Local } from './context.ts';
import { readInit } from './init-process.ts';
import { withLayer } from './layers.ts';
import { sandboxLayout } from './layout.ts';
import { type PartLayers, type SandboxRecord, writeRecord } from './record.ts';
import { newId } from './store.ts';

/** The layers that hold the present files of the sandbox. Call with its lock held and layers in use. */
export async function capture(local: Local, record: SandboxRecord, call: Call): Promise<PartLayers> {
  const init = readInit(sandboxLayout(local.layout, record.id).init);
  if (init === undefined) return captureStopped(local, record);
  const { captureRunning } = await import('./capture-running.ts');
  return captureRunning(local, record, init, call);
}

function captureStopped(local: Local, record: SandboxRecord): PartLayers {
  const files = sandboxLayout(local.layout, record.id);
  if (!fs.existsSync(files.upper)) return record.layers;
  const layer = newId();
  writeRecord(files.record, { ...record, freezing: layer });
  fs.renameSync(files.upper, join(local.layout.layers, layer));
  const layers = withLayer(local, record.layers, layer);
  writeRecord(files.record, { ...record, layers });
  return layers;
}
