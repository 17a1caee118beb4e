/**
 * Limits and the freezer, through cgroup version 1 or 2, whichever this machine has and lets us write.
 * Version 1: one folder a controller. Version 2: one folder with them all.
 */
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Limits } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';

/** Where a machine's cgroups are; a parameter so that tests can use a folder. */
export interface CgroupRoots {
  readonly mount: string;
  /** The text of /proc/self/cgroup. */
  readonly self: string;
}

const CPU_PERIOD_US = 100_000;
const V1_CONTROLLERS = ['memory', 'pids', 'cpu', 'cpuacct', 'freezer'] as const;
type Controller = (typeof V1_CONTROLLERS)[number];

/** The cgroups of this process. */
export function systemCgroups(): CgroupRoots {
  return { mount: '/sys/fs/cgroup', self: fs.readFileSync('/proc/self/cgroup', 'utf8') };
}

/**
 * Makes the cgroups of a sandbox and sets its limits. Without limits there are none: joining them would cost every
 * command a moment. A limit that cannot be enforced is refused (`unsupported`).
 */
export function makeCgroups(roots: CgroupRoots, id: string, limits: Limits): string[] {
  const wanted = limitedControllers(limits);
  if (wanted.length === 0) return [];
  const v2 = isVersion2(roots);
  const made = v2 ? makeVersion2(roots, id, wanted) : makeVersion1(roots, id);
  try {
    for (const controller of wanted) setLimit(made, controller, limits, v2);
  } catch (error) {
    removeCgroups([...made.values()]);
    throw error;
  }
  return [...new Set(made.values())];
}

/** Removes the folders; their processes must have ended. Missing ones are no error; returns those that are still busy. */
export function removeCgroups(folders: readonly string[]): string[] {
  return folders.filter((folder) => {
    try {
      fs.rmdirSync(folder);
      return false;
    } catch (error) {
      if (hasErrno(error, 'ENOENT')) return false;
      if (hasErrno(error, 'EBUSY', 'ENOTEMPTY')) return true;
      throw error;
    }
  });
}

function limitedControllers(limits: Limits): Controller[] {
  const wanted: Controller[] = [];
  if (limits.memory !== undefined) wanted.push('memory');
  if (limits.pids !== undefined) wanted.push('pids');
  if (limits.cpus !== undefined) wanted.push('cpu');
  return wanted;
}

function makeVersion1(roots: CgroupRoots, id: string): Map<Controller, string> {
  const made = new Map<Controller, string>();
  for (const controller of V1_CONTROLLERS) {
    const folder = makeFolder(version1Folder(roots, id, controller));
    if (folder !== undefined) made.set(controller, folder);
  }
  return made;
}

function version1Folder(roots: CgroupRoots, id: string, controller: Controller): string {
  const mount = join(roots.mount, controller);
  const own = join(mount, ownPath(roots.self, controller));
  return join(fs.existsSync(own) ? own : mount, `sbx-${id}`);
}

/** Where a cgroup of version 2 may be: one that holds processes hands no controllers on, so ours stand beside it. */
function version2Folders(roots: CgroupRoots, id: string): string[] {
  const own = join(roots.mount, ownPath(roots.self, ''));
  return [join(roots.mount, 'sbx', id), join(own, 'sbx', id)];
}

function isVersion2(roots: CgroupRoots): boolean {
  return fs.existsSync(join(roots.mount, 'cgroup.controllers'));
}

/** The cgroup that processes of the sandbox are moved to in order to be frozen; undefined where this user may not make one. */
export function makeFreezer(roots: CgroupRoots, id: string): string | undefined {
  if (!isVersion2(roots)) return makeFolder(version1Folder(roots, id, 'freezer'));
  for (const folder of version2Folders(roots, id)) {
    if (makeFolder(join(folder, '..')) === undefined) continue;
    const made = makeFolder(folder);
    if (made !== undefined) return made;
  }
  return undefined;
}

/** Every folder that a sandbox may have, whether it is there or not. */
export function possibleCgroups(roots: CgroupRoots, id: string): string[] {
  return isVersion2(roots)
    ? version2Folders(roots, id)
    : V1_CONTROLLERS.map((controller) => version1Folder(roots, id, controller));
}

/** Ends what is left in these cgroups, for good: even what is frozen, or came after init had ended. */
export function killInCgroups(folders: readonly string[]): void {
  const freezer = freezerOf(folders);
  if (freezer !== undefined) fs.writeFileSync(freezer.file, freezer.thaw);
  for (const folder of folders) {
    for (const pid of processesIn(folder)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        if (!hasErrno(error, 'ESRCH')) throw error;
      }
    }
  }
}

function processesIn(folder: string): number[] {
  try {
    // 0 is a process that this pid namespace does not see.
    return fs.readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').map(Number).filter(Boolean);
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENODEV')) return [];
    throw error;
  }
}

/** Where {@link makeFreezer} may have made one. */
export function freezerFolders(roots: CgroupRoots, id: string): string[] {
  return isVersion2(roots) ? version2Folders(roots, id) : [version1Folder(roots, id, 'freezer')];
}

function makeVersion2(
  roots: CgroupRoots,
  id: string,
  wanted: readonly Controller[],
): Map<Controller, string> {
  const made = new Map<Controller, string>();
  for (const place of version2Folders(roots, id)) {
    const parent = join(place, '..');
    if (makeFolder(parent) === undefined) continue;
    for (const controller of wanted) {
      enable(join(parent, '..'), controller);
      enable(parent, controller);
    }
    const folder = makeFolder(place);
    if (folder === undefined) continue;
    const has = fs.readFileSync(join(folder, 'cgroup.controllers'), 'utf8').trim().split(' ');
    if (wanted.every((controller) => has.includes(controller))) {
      for (const controller of V1_CONTROLLERS) made.set(controller, folder);
      return made;
    }
    removeCgroups([folder]);
  }
  return made;
}

function enable(folder: string, controller: string): void {
  try {
    fs.writeFileSync(join(folder, 'cgroup.subtree_control'), `+${controller}`);
  } catch (error) {
    // Refused: what the new cgroup has afterwards decides.
    if (!hasErrno(error, 'EACCES', 'EPERM', 'EBUSY', 'ENOENT', 'EINVAL', 'EROFS', 'EOPNOTSUPP')) throw error;
  }
}

function makeFolder(path: string): string | undefined {
  try {
    fs.mkdirSync(path);
    return path;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return path;
    if (hasErrno(error, 'EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** This process's path in a hierarchy; `''` is that of version 2. */
function ownPath(self: string, controller: string): string {
  for (const line of self.split('\n')) {
    const [, names = '', ...path] = line.split(':');
    if (controller === '' ? names === '' : names.split(',').includes(controller)) return path.join(':');
  }
  return '/';
}

function setLimit(made: Map<Controller, string>, controller: Controller, limits: Limits, v2: boolean): void {
  const folder = made.get(controller);
  const files = v2 ? version2Files(controller, limits) : version1Files(controller, limits);
  try {
    if (folder === undefined) throw new SbxError('unsupported', 'there is no cgroup that we may write');
    for (const [name, value] of files) fs.writeFileSync(join(folder, name), value);
  } catch (cause) {
    const flag = { memory: '--memory', pids: '--pids', cpu: '--cpus', cpuacct: '', freezer: '' }[controller];
    throw new SbxError('unsupported', `${flag} cannot be enforced on this machine for this user`, {
      hint: 'run sbx as root, or where the cgroup controllers are delegated; see sbx doctor',
      cause,
    });
  }
}

function version1Files(controller: Controller, limits: Limits): [string, string][] {
  if (controller === 'memory') return [['memory.limit_in_bytes', String(limits.memory)]];
  if (controller === 'pids') return [['pids.max', String(limits.pids)]];
  return [
    ['cpu.cfs_period_us', String(CPU_PERIOD_US)],
    ['cpu.cfs_quota_us', String(Math.round((limits.cpus ?? 1) * CPU_PERIOD_US))],
  ];
}

function version2Files(controller: Controller, limits: Limits): [string, string][] {
  if (controller === 'memory')
    return [
      ['memory.max', String(limits.memory)],
      ['memory.oom.group', '0'],
    ];
  if (controller === 'pids') return [['pids.max', String(limits.pids)]];
  return [['cpu.max', `${Math.round((limits.cpus ?? 1) * CPU_PERIOD_US)} ${CPU_PERIOD_US}`]];
}

/** The file that freezes the sandbox's processes, with the words for it; undefined where there is no freezer. */
export function freezerOf(
  folders: readonly string[],
): { file: string; freeze: string; thaw: string; frozen: () => boolean } | undefined {
  for (const folder of folders) {
    const v2 = join(folder, 'cgroup.freeze');
    if (fs.existsSync(v2)) {
      const events = join(folder, 'cgroup.events');
      return {
        file: v2,
        freeze: '1',
        thaw: '0',
        frozen: () => /^frozen 1$/m.test(fs.readFileSync(events, 'utf8')),
      };
    }
    const v1 = join(folder, 'freezer.state');
    if (fs.existsSync(v1)) {
      return {
        file: v1,
        freeze: 'FROZEN',
        thaw: 'THAWED',
        frozen: () => fs.readFileSync(v1, 'utf8').trim() === 'FROZEN',
      };
    }
  }
  return undefined;
}
