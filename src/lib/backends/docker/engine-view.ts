/**
 * What the engine sees of a container's files, which is not all: it looks from outside, at the root file system and the
 * volumes, and not at what is mounted within. Where it may be mistaken, only a command inside can tell.
 */
import type { Call, FileType } from '../../backend/contract.ts';
import type { Box } from './box.ts';
import { workdirOf } from './exec.ts';
import { pathStat, typeOf } from './path-stat.ts';

/** File systems that the engine mounts into each container. */
const MOUNTED = ['proc', 'sys', 'dev'];
/** Users who may read and write as much as the engine does. */
const ROOT = ['0', 'root', '0:0', 'root:root'];
/** Runtimes whose containers keep their files where the engine has them; gVisor may keep changes for itself. */
const PLAIN_RUNTIMES = ['runc', 'crun', 'oci', 'io.containerd.runc.v2'];

/** `unseen`: the engine cannot tell. */
export type EngineView = FileType | 'missing' | 'unseen';

/** What is at `path`, which may be relative to the workdir. The way to it must be without symlinks, which the engine follows by itself. */
export async function engineView(box: Box, path: string, call: Call): Promise<EngineView> {
  const parts = workdirOf(box, path)
    .split('/')
    .filter((part) => part !== '' && part !== '.');
  if (!mayStandIn(box) || parts.includes('..') || MOUNTED.includes(parts[0] ?? '')) return 'unseen';
  let type: FileType = 'directory';
  for (let depth = 1; depth <= parts.length; depth++) {
    if (type !== 'directory') return 'unseen';
    const stat = await pathStat(box, `/${parts.slice(0, depth).join('/')}`, call);
    if (stat === undefined) return 'missing';
    type = typeOf(stat);
  }
  return type === 'symlink' ? 'unseen' : type;
}

/** Whether all that lies below the directory `path` is seen too. */
export function hidesNothing(box: Box, path: string): boolean {
  return /[^/.]/.test(workdirOf(box, path));
}

/** A container that sbx did not make has a user and mounts of its own. */
function mayStandIn({ facts, user, runtime }: Box): boolean {
  return facts !== undefined && ROOT.includes(user ?? 'root') && PLAIN_RUNTIMES.includes(runtime ?? '');
}
