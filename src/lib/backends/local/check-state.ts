/** Whether the state folder can hold the files of sandboxes. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Call, CheckResult } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { ensureFolder } from '../../store/folder.ts';
import { randomHex } from '../../util/random-id.ts';
import { formatSize } from '../../util/size.ts';
import { attempt, failed, ok, UNSHARE, warning } from './check-try.ts';

/** Less free space than this is worth a warning, and a failure. */
const LITTLE_SPACE = 1024 ** 3;
const NO_SPACE = 32 * 1024 ** 2;

/** Whether there is a state folder that we may write; made when it is missing. */
export function checkState(state: string): CheckResult {
  try {
    ensureFolder(state);
    fs.accessSync(state, fs.constants.W_OK | fs.constants.X_OK);
    return ok('state folder', state);
  } catch (error) {
    if (error instanceof SbxError) return failed('state folder', error.message, error.hint ?? OTHER_FOLDER);
    if (hasErrno(error, 'EACCES', 'EROFS', 'EPERM'))
      return failed('state folder', `cannot write ${state}`, OTHER_FOLDER);
    throw error;
  }
}

const OTHER_FOLDER = 'choose another folder: export SBX_STATE_DIR=/path/to/folder';

/** Overwrites a folder of a lower layer, which takes the extended attributes that not every file system has. */
const OVERLAY_TRIAL = `mount -t overlay overlay -o userxattr,lowerdir=lower,upperdir=upper,workdir=work merged
rmdir merged/folder && mkdir merged/folder && echo works > merged/folder/file`;

/** Tries an overlay mount whose upper folder is in the state folder. Rejects only when interrupted. */
export async function checkOverlay(state: string, call: Call): Promise<CheckResult> {
  const name = 'overlay mounts';
  const trial = join(state, `.check-${randomHex(6)}`);
  try {
    for (const folder of ['lower/folder', 'upper', 'work', 'merged'])
      fs.mkdirSync(join(trial, folder), { recursive: true });
    const problem = await attempt([...UNSHARE, '--', '/bin/sh', '-ec', OVERLAY_TRIAL], trial, call);
    if (problem === undefined) return ok(name, `on ${fileSystemOf(state)}`);
    return failed(
      name,
      `do not work with ${state} on ${fileSystemOf(state)} (${problem})`,
      `${OTHER_FOLDER} on ext4, xfs or btrfs`,
    );
  } catch (error) {
    if (hasErrno(error, 'ENOSPC', 'EDQUOT')) return failed(name, `no space left in ${state}`, OTHER_FOLDER);
    throw error;
  } finally {
    // The kernel makes work/work without any permission; its owner may still change that.
    const inner = join(trial, 'work/work');
    if (fs.existsSync(inner)) fs.chmodSync(inner, 0o700);
    fs.rmSync(trial, { recursive: true, force: true });
  }
}

const FILE_SYSTEMS: Readonly<Record<number, string>> = {
  61267: 'ext4',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  16914836: 'tmpfs',
  2035054128: 'overlay',
  26985: 'nfs',
  4283649346: 'cifs',
  1702057286: 'fuse',
  801189825: 'zfs',
  16914839: '9p',
};

function fileSystemOf(path: string): string {
  const { type } = fs.statfsSync(path);
  return FILE_SYSTEMS[type] ?? `a file system of type 0x${type.toString(16)}`;
}

/** Whether there is room for what sandboxes write. */
export function checkSpace(state: string): CheckResult {
  const { bavail, bsize, ffree, files } = fs.statfsSync(state);
  const free = bavail * bsize;
  const detail = `${formatSize(free)} free`;
  const hint = 'see what can go: sbx prune --dry-run';
  if (files > 0 && ffree === 0) return failed('disk space', 'no inodes left', hint);
  if (free < NO_SPACE) return failed('disk space', detail, hint);
  return free < LITTLE_SPACE ? warning('disk space', detail, hint) : ok('disk space', detail);
}
