/** Which parts of a frozen sandbox its processes could still change through what they hold open. */
import * as fs from 'node:fs';
import { hasErrno } from '../../errors.ts';
import type { Part } from './parts.ts';
import { processesOf } from './processes-of.ts';

/** O_WRONLY or O_RDWR, and O_DIRECTORY: an open folder can be made files in. */
const WRITING_FLAGS = 0o3;
const FOLDER_FLAG = 0o200000;

/** The names of the parts that are in use for writing, or hold a process's working folder; all of them when that cannot be told. */
export function busyParts(init: number, parts: readonly Part[]): Set<string> {
  const mounts = topMounts(init, parts);
  const all = new Set(parts.map((part) => part.name));
  const busy = new Set<string>();
  const namespace = fs.readlinkSync(`/proc/${init}/ns/mnt`);
  for (const pid of processesOf({ pid: init })) {
    try {
      // Mounts of its own: what we mount over would not reach it.
      if (fs.readlinkSync(`/proc/${pid}/ns/mnt`) !== namespace) return all;
      const folder = fs.statSync(`/proc/${pid}/cwd`).dev;
      for (const mount of mounts) if (pid !== init && mount.device === folder) busy.add(mount.part);
      for (const id of openMounts(pid)) for (const mount of mounts) if (mount.id === id) busy.add(mount.part);
      for (const path of sharedMappings(pid))
        for (const part of parts) if (isBelow(path, part.path)) busy.add(part.name);
    } catch (error) {
      if (hasErrno(error, 'ENOENT', 'ESRCH')) continue;
      if (hasErrno(error, 'EACCES', 'EPERM')) return all;
      throw error;
    }
  }
  return busy;
}

interface TopMount {
  readonly part: string;
  readonly id: string;
  readonly device: number;
}

function topMounts(init: number, parts: readonly Part[]): TopMount[] {
  const top = new Map<string, { id: string; device: number }>();
  for (const line of fs.readFileSync(`/proc/${init}/mountinfo`, 'utf8').split('\n')) {
    const [id = '', , device = '', , path = ''] = line.split(' ');
    const [major, minor] = device.split(':').map(Number);
    // The last mount at a path is the one that is seen.
    top.set(path, { id, device: deviceNumber(major ?? 0, minor ?? 0) });
  }
  return parts.flatMap((part) => {
    const mount = top.get(part.path);
    return mount === undefined ? [] : [{ part: part.name, ...mount }];
  });
}

/** A device number as `stat` gives it; see makedev(3). */
function deviceNumber(major: number, minor: number): number {
  return Number((BigInt(minor) & 0xffn) | (BigInt(major) << 8n) | ((BigInt(minor) & ~0xffn) << 12n));
}

function openMounts(pid: number): string[] {
  const ids: string[] = [];
  for (const fd of fs.readdirSync(`/proc/${pid}/fdinfo`)) {
    const text = fs.readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8');
    const flags = Number.parseInt(/^flags:\s*(\d+)$/m.exec(text)?.[1] ?? '0', 8);
    const id = /^mnt_id:\s*(\d+)$/m.exec(text)?.[1];
    if (id !== undefined && (flags & WRITING_FLAGS) + (flags & FOLDER_FLAG) !== 0) ids.push(id);
  }
  return ids;
}

function sharedMappings(pid: number): string[] {
  const lines = fs.readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n');
  return lines.flatMap((line) => {
    const [, mode = '', , , , ...path] = line.split(/ +/);
    return mode[1] === 'w' && mode[3] === 's' && path.length > 0 ? [path.join(' ')] : [];
  });
}

function isBelow(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`);
}
