/** Root file systems that a user brings along: a folder is used as it is, a tar archive is unpacked into a layer. */
import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Call } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import type { Local } from './context.ts';
import { removeTree } from './erase.ts';
import { newId } from './store.ts';
import { endsWithUs, SYSTEM_ENV } from './system.ts';

const run = promisify(execFile);

/** The folder of the root file system at `path`, absolute. Call with layers in use. */
export async function prepareRootfs(local: Local, path: string, call: Call): Promise<string> {
  const place = resolve(path);
  const stat = fs.statSync(place, { throwIfNoEntry: false });
  if (stat === undefined)
    throw new SbxError('not_found', `there is no rootfs at ${path}`, { backend: local.name });
  if (stat.isDirectory()) return checked(place, path);
  if (!stat.isFile()) throw new SbxError('usage', `the rootfs ${path} is neither a folder nor a tar archive`);
  call.onStep?.('unpacking the root file system');
  const layer = join(local.layout.layers, newId());
  const folder = join(layer, 'rootfs');
  fs.mkdirSync(folder, { recursive: true, mode: 0o755 });
  try {
    const options = ['--numeric-owner', '-p', '--exclude=./dev/*', '--exclude=dev/*'];
    const [file, ...args] = endsWithUs(['tar', '-x', ...options, '-C', folder, '-f', place]);
    await run(file, args, { env: SYSTEM_ENV, signal: call.signal });
    return checked(folder, path);
  } catch (cause) {
    await removeTree(layer);
    if (cause instanceof SbxError) throw cause;
    if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted', { cause });
    const said = String((cause as { stderr?: string }).stderr ?? cause)
      .trim()
      .split('\n')[0];
    throw new SbxError('failed', `cannot unpack the rootfs ${path}: ${said}`, { backend: local.name, cause });
  }
}

function checked(folder: string, path: string): string {
  if (
    ['bin/sh', 'usr/bin/sh'].some(
      (name) => fs.lstatSync(join(folder, name), { throwIfNoEntry: false }) !== undefined,
    )
  )
    return folder;
  throw new SbxError('usage', `the rootfs ${path} has no /bin/sh`, {
    hint: 'sbx needs a POSIX shell in it; busybox is enough',
  });
}
