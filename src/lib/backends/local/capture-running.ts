/**
 * A consistent layer of a running sandbox. Its processes are frozen; a part that none of them could change any more
 * gets a new overlay mount on top, with the old upper folder as its highest layer; the other parts are copied.
 */
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Call } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { fileError } from '../../store/file-error.ts';
import { HIDDEN_FOLDER } from './base-folders.ts';
import { busyParts } from './busy-parts.ts';
import type { Local } from './context.ts';
import { removeTree } from './erase.ts';
import type { InitProcess } from './init-process.ts';
import { helperArgv, userNamespace } from './join.ts';
import { withLayer } from './layers.ts';
import { GUEST_FOLDER, sandboxLayout } from './layout.ts';
import mountScript from './mount-over.sh';
import { overlayOptions } from './mounts.ts';
import { type Part, partsOf, ROOT_PART } from './parts.ts';
import { type PartLayers, type SandboxRecord, writeRecord } from './record.ts';
import { newId } from './store.ts';
import { freeze, thaw } from './suspend.ts';
import { endsWithUs, SYSTEM_ENV } from './system.ts';

const run = promisify(execFile);

/** See {@link import('./capture.ts').capture}; the sandbox runs on, or stays paused if it was. */
export async function captureRunning(
  local: Local,
  record: SandboxRecord,
  init: InitProcess,
  call: Call,
): Promise<PartLayers> {
  const files = sandboxLayout(local.layout, record.id);
  const changed = partsOf(record).filter((part) => !isEmpty(join(files.upper, part.name)));
  if (changed.length === 0) return record.layers;
  if (!init.paused) await freeze(record.id, init, call);
  try {
    const busy = busyParts(init.pid, changed);
    // Every process has its root on the first part, so that one cannot be mounted over.
    const copied = changed.filter((part) => part.name === ROOT_PART.name || busy.has(part.name));
    const moved = changed.filter((part) => !copied.includes(part));
    const layer = newId();
    try {
      if (copied.length > 0) call.onStep?.('copying the files that are in use');
      for (const part of copied)
        await copyPart(init, join(files.upper, part.name), join(local.layout.layers, layer, part.name));
    } catch (cause) {
      await removeTree(join(local.layout.layers, layer));
      throw copyError(join(local.layout.layers, layer), cause);
    }
    if (moved.length > 0) await moveParts(local, record, init, layer, moved);
    return withLayer(local, record.layers, layer);
  } finally {
    if (!init.paused) thaw(record.id, init);
  }
}

function isEmpty(path: string): boolean {
  return !fs.existsSync(path) || fs.readdirSync(path).length === 0;
}

/** As root of the sandbox, who may read and own everything in it. */
async function copyPart(init: InitProcess, from: string, to: string): Promise<void> {
  fs.mkdirSync(join(to, '..'), { recursive: true, mode: 0o700 });
  const copy = endsWithUs(['cp', '-a', '--reflink=auto', '--sparse=auto', '--', from, to]);
  await run('nsenter', ['-t', String(init.pid), ...userNamespace(init.keepsGroups), '--', ...copy], {
    env: SYSTEM_ENV,
  });
}

function copyError(layer: string, cause: unknown): SbxError {
  if (cause instanceof SbxError) return cause;
  if (hasErrno(cause, 'ENOSPC', 'EDQUOT')) return fileError('cannot write', layer, cause);
  const said = String((cause as { stderr?: string }).stderr ?? cause).trim();
  return new SbxError('failed', `cannot copy the files of the sandbox to ${layer}: ${said.split('\n')[0]}`, {
    hint: 'is there room? sbx doctor',
    cause,
  });
}

async function moveParts(
  local: Local,
  record: SandboxRecord,
  init: InitProcess,
  layer: string,
  parts: readonly Part[],
): Promise<void> {
  const files = sandboxLayout(local.layout, record.id);
  const old = join(files.work, `.old-${layer}`);
  writeRecord(files.record, { ...record, freezing: layer });
  fs.mkdirSync(join(local.layout.layers, layer), { recursive: true, mode: 0o700 });
  fs.mkdirSync(old, { mode: 0o700 });
  for (const part of parts) {
    const upper = join(files.upper, part.name);
    const stat = fs.statSync(upper);
    fs.renameSync(upper, join(local.layout.layers, layer, part.name));
    fs.renameSync(join(files.work, part.name), join(old, part.name));
    fs.mkdirSync(join(files.work, part.name), { mode: 0o700 });
    fs.mkdirSync(upper);
    fs.chownSync(upper, stat.uid, stat.gid);
    fs.chmodSync(upper, stat.mode & 0o7777);
  }
  const own = Object.fromEntries(
    parts.map((part) => [part.name, [layer, ...(record.layers[part.name] ?? [])]]),
  );
  const next = { ...record, layers: { ...record.layers, ...own } };
  await mountOver(init, next, parts);
  writeRecord(files.record, next);
  await removeTree(old);
}

/**
 * Mounts the parts anew, seen from this machine's root but in the sandbox's mount namespace: the kernel takes only
 * folders of that namespace for an overlay, and these lie below the cover.
 */
async function mountOver(init: InitProcess, record: SandboxRecord, parts: readonly Part[]): Promise<void> {
  const root = `/proc/${init.pid}/root`;
  const hidden = `${root}/${HIDDEN_FOLDER}`;
  const words = parts.flatMap((part) => {
    const { host, ...empty } = part;
    const isEmpty = init.emptyParts.includes(part.name) || host === undefined;
    const shown = isEmpty ? empty : { ...part, lower: `../../host/${part.name}` };
    return [`${root}${part.path}`, overlayOptions(record, shown, init.base)];
  });
  const [file, ...args] = helperArgv(init, [
    '/bin/sh',
    '-c',
    mountScript,
    'sbx-mount',
    hidden,
    `sandboxes/${record.id}`,
    GUEST_FOLDER,
    ...words,
  ]);
  await run(file, args, { env: SYSTEM_ENV });
}
