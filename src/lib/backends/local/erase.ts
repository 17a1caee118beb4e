/** Removing a sandbox for good. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { SbxError } from '../../errors.ts';
import type { Local } from './context.ts';
import { sandboxLayout } from './layout.ts';
import { type SandboxRecord, writeRecord } from './record.ts';
import { shutDown } from './shut-down.ts';
import { releaseName } from './store.ts';
import { HELPER, isRoot, SYSTEM_ENV } from './system.ts';
import { mapIds } from './uid-map.ts';
import { isDiskFull } from './unsettled.ts';

const run = promisify(execFile);

/** Ends the processes and removes everything of sandbox `id`. Can be cut short anywhere and started again. Call with its lock held. */
export async function eraseSandbox(
  local: Local,
  id: string,
  record: SandboxRecord | undefined,
): Promise<void> {
  const files = sandboxLayout(local.layout, id);
  if (record !== undefined && record.phase !== 'removing') markRemoving(files.record, record);
  await shutDown(local.layout, id, 0);
  for (const name of [record?.name, record?.otherName])
    if (name !== undefined) releaseName(local.layout, name, id);
  await removeTree(files.upper);
  await removeTree(files.work);
  await removeTree(files.folder);
}

function markRemoving(path: string, record: SandboxRecord): void {
  try {
    writeRecord(path, { ...record, phase: 'removing' });
  } catch (error) {
    // On a full disk the old record stays, and a removal that is cut short is started again by whoever asked for it.
    if (!isDiskFull(error)) throw error;
  }
}

/** Removes a tree that a sandbox has written: nothing in it is followed. Missing is no error. */
export async function removeTree(path: string): Promise<void> {
  if (fs.lstatSync(path, { throwIfNoEntry: false }) === undefined) return;
  try {
    await run('rm', ['-rf', '--', path], { env: SYSTEM_ENV });
  } catch (cause) {
    if (isRoot())
      throw new SbxError(
        'failed',
        `cannot remove ${path}: ${String((cause as { stderr?: string }).stderr ?? cause).trim()}`,
        { cause },
      );
    await removeAsPlainUser(path);
  }
}

async function removeAsPlainUser(path: string): Promise<void> {
  try {
    // Folders that their owner has closed, as package caches are; it fails for what is another user's.
    await run('chmod', ['-R', 'u+rwX', '--', path], { env: SYSTEM_ENV });
    await run('rm', ['-rf', '--', path], { env: SYSTEM_ENV });
  } catch {
    // A plain user cannot remove what the sandbox's other users own, but root of the sandbox can.
    await removeAsSandboxRoot(path);
  }
}

async function removeAsSandboxRoot(path: string): Promise<void> {
  const script = 'read -r p r < /proc/self/stat; echo "$p" >&3; read -r go <&3 && exec rm -rf -- "$1"';
  const child = spawn('unshare', ['--user', '--keep-caps', '--', '/bin/sh', '-c', script, 'sbx-rm', path], {
    ...HELPER,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const control = child.stdio[3] as Duplex;
  const exited = once(child, 'exit');
  const said = await Promise.race([once(control, 'data') as Promise<[Buffer]>, exited.then(() => undefined)]);
  if (said !== undefined) {
    mapIds(Number(said[0].toString('utf8').trim()));
    control.write('go\n');
  }
  const [code] = (await exited) as [number | null];
  control.destroy();
  if (code !== 0)
    throw new SbxError('failed', `cannot remove ${path}`, { hint: 'remove it as root: rm -rf' });
}
