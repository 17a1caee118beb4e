/** Which users of this machine the users of a sandbox are. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { hasErrno, SbxError } from '../../errors.ts';
import { isRoot, SYSTEM_ENV } from './system.ts';

/** How many ids a sandbox has at the most: what package managers expect. */
const IDS = 65_536;

/** A range of subordinate ids from /etc/subuid or /etc/subgid. */
interface IdRange {
  readonly first: number;
  readonly count: number;
}

/**
 * Gives meaning to the ids in the user namespace of `pid`. Root: every id is itself, so that files of this machine keep
 * their owners. A plain user: root of the sandbox is the user, the others come from the subordinate ranges where the
 * system lets us, else there is only root.
 * @returns whether the user's groups stay: with a single id the kernel lets nobody give them up.
 */
export function mapIds(pid: number): boolean {
  if (isRoot()) {
    write(pid, 'uid_map', `0 0 ${IDS}`);
    write(pid, 'gid_map', `0 0 ${IDS}`);
    return false;
  }
  const uid = process.geteuid?.() ?? 0;
  const gid = process.getegid?.() ?? 0;
  const ranges = subordinateRanges();
  if (ranges !== undefined) {
    map('newuidmap', pid, uid, ranges.uids);
    map('newgidmap', pid, gid, ranges.gids);
    return false;
  }
  write(pid, 'setgroups', 'deny');
  write(pid, 'uid_map', `0 ${uid} 1`);
  write(pid, 'gid_map', `0 ${gid} 1`);
  return true;
}

/** The subordinate ids of this user, if it has both kinds and the programs that hand them out. */
export function subordinateRanges(): { readonly uids: IdRange; readonly gids: IdRange } | undefined {
  const programs = ['newuidmap', 'newgidmap'].every((name) =>
    ['/usr/bin', '/bin'].some((folder) => existsSync(`${folder}/${name}`)),
  );
  if (!programs) return undefined;
  const uids = rangeOf('/etc/subuid');
  const gids = rangeOf('/etc/subgid');
  return uids === undefined || gids === undefined ? undefined : { uids, gids };
}

function rangeOf(path: string): IdRange | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'EACCES')) return undefined;
    throw error;
  }
  const names = [String(process.geteuid?.()), userName()];
  for (const line of text.split('\n')) {
    const [who = '', first, count] = line.split(':');
    if (who === '' || !names.includes(who)) continue;
    const range = { first: Number(first), count: Math.min(Number(count), IDS - 1) };
    if (Number.isInteger(range.first) && range.count > 0) return range;
  }
  return undefined;
}

/** The name of this user; none where only a number is known, as in many containers. */
function userName(): string | undefined {
  try {
    return userInfo().username;
  } catch (error) {
    if (hasErrno(error, 'ERR_SYSTEM_ERROR', 'ENOENT')) return undefined;
    throw error;
  }
}

function map(program: string, pid: number, own: number, range: IdRange): void {
  const args = [pid, 0, own, 1, 1, range.first, range.count].map(String);
  try {
    execFileSync(program, args, { env: SYSTEM_ENV, stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (cause) {
    throw new SbxError('failed', `${program} refused to map the ids of a sandbox`, {
      hint: 'sbx doctor',
      cause,
    });
  }
}

function write(pid: number, file: string, text: string): void {
  try {
    writeFileSync(`/proc/${pid}/${file}`, text);
  } catch (cause) {
    throw new SbxError('failed', 'this system does not let us map the ids of a sandbox', {
      hint: 'see what is missing: sbx doctor',
      cause,
    });
  }
}
