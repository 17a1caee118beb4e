/**
 * The parts that a sandbox's file system is put together from. Each part is one overlay mount: the sandbox's own upper
 * folder over the layers of snapshots over a base. Many small mounts and not one: a part that nobody uses can be frozen
 * under a running sandbox (see capture-running.ts), and what this machine has mounted elsewhere stays out.
 */
import { lstatSync } from 'node:fs';
import { hasErrno } from '../../errors.ts';
import type { SandboxRecord } from './record.ts';

export interface Part {
  /** Its folder's name below `upper`, `work` and a layer. */
  readonly name: string;
  /** Where it is inside. */
  readonly path: string;
  /** The folder of this machine below it; absent: an empty one. */
  readonly host?: string;
  /** The same relative to the layers' folder, where its name cannot stand among the options of a mount. */
  readonly lower?: string;
  /** Its folder's name below a base layer, where it is another one. */
  readonly base?: string;
}

/** The part that `/` itself is: mount points, and what is made beside them. */
export const ROOT_PART: Part = { name: 'root', path: '/' };

/** What lies over a root file system of the user's own: mount points, but none of this machine's links. */
export const ROOTFS_BASE = 'rootfs';

const FROM_MACHINE = ['usr', 'etc', 'opt', 'var'];
/** Links into /usr on a merged system, folders of their own on an old one. */
export const MAYBE_LINKS = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];
const OWN: readonly Part[] = [
  { name: 'home', path: '/home' },
  { name: 'root-home', path: '/root' },
  { name: 'srv', path: '/srv' },
  { name: 'tmp', path: '/tmp' },
  { name: 'workspace', path: '/workspace' },
];

/** The parts of a copy of this machine, in the order in which they are mounted. */
export function machineParts(): Part[] {
  const host = [...FROM_MACHINE, ...MAYBE_LINKS].filter(isFolder);
  return [ROOT_PART, ...host.map((name) => ({ name, path: `/${name}`, host: `/${name}` })), ...OWN];
}

/** The single part of a sandbox with a root file system of its own. */
export function rootfsParts(folder: string): Part[] {
  return [{ ...ROOT_PART, host: folder, base: ROOTFS_BASE }];
}

/** The parts that hold the programs of this machine and their libraries. */
export function toolParts(): (Part & { readonly host: string })[] {
  return ['usr', ...MAYBE_LINKS]
    .filter(isFolder)
    .map((name) => ({ name, path: `/${name}`, host: `/${name}` }));
}

function isFolder(name: string): boolean {
  try {
    return lstatSync(`/${name}`).isDirectory();
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return false;
    throw error;
  }
}

/** The parts of this sandbox. */
export function partsOf(record: SandboxRecord): Part[] {
  return record.rootfs === undefined ? machineParts() : rootfsParts(record.rootfs);
}
