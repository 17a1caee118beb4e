/** Users of a sandbox, read from its own /etc without following it anywhere. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { hasErrno, SbxError } from '../../errors.ts';
import type { Identity } from './join.ts';

export interface User extends Identity {
  readonly name: string;
  readonly home: string;
  readonly shell: string;
}

const ROOT: User = { name: 'root', uid: 0, gid: 0, groups: [], home: '/root', shell: '/bin/sh' };
/** More than any real /etc/passwd; what comes out of a sandbox is capped. */
const SIZE_LIMIT = 4 * 1024 * 1024;
const HIGHEST_ID = 65_535;

/** The user `text` (name or `uid`, with an optional `:group`) of the sandbox whose init is `pid`. */
export function findUser(pid: number, text: string | undefined, sandbox: string): User {
  if (text === undefined || text === '0' || text === 'root') return ROOT;
  const [who = '', group] = text.split(':');
  const passwd = rows(pid, 'passwd');
  const row =
    passwd.find((fields) => fields[0] === who) ??
    passwd.find((fields) => /^\d+$/.test(who) && fields[2] === who);
  const uid = row === undefined ? id(who) : id(row[2] ?? '');
  if (uid === undefined) {
    throw new SbxError('failed', `there is no user '${who}' in sandbox '${sandbox}'`, {
      hint: `see who there is: sbx exec ${sandbox} -- cut -d: -f1 /etc/passwd`,
    });
  }
  const groups = rows(pid, 'group');
  const gid = group === undefined ? (id(row?.[3] ?? '') ?? uid) : groupId(groups, group, sandbox);
  const name = row?.[0] ?? who;
  const extra = groups
    .filter((fields) => (fields[3] ?? '').split(',').includes(name))
    .flatMap((fields) => id(fields[2] ?? '') ?? []);
  return {
    ...{ name, uid, gid, groups: extra.slice(0, 64) },
    home: value(row?.[5], '/'),
    shell: value(row?.[6], '/bin/sh'),
  };
}

/** What can stand in an environment. */
function value(text: string | undefined, fallback: string): string {
  return text === undefined || text === '' || text.includes('\0') ? fallback : text;
}

function groupId(groups: readonly (readonly string[])[], text: string, sandbox: string): number {
  const found = id(groups.find((fields) => fields[0] === text)?.[2] ?? text);
  if (found !== undefined) return found;
  throw new SbxError('failed', `there is no group '${text}' in sandbox '${sandbox}'`);
}

function id(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= HIGHEST_ID ? Number(text) : undefined;
}

/** A link could lead out of the sandbox, as could one in the place of /etc; a FIFO would hold us up. */
function openInEtc(pid: number, name: string): number | undefined {
  let folder: number | undefined;
  try {
    folder = openSync(`/proc/${pid}/root/etc`, constants.O_DIRECTORY | constants.O_NOFOLLOW);
    return openSync(
      `/proc/self/fd/${folder}/${name}`,
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ELOOP', 'ENOTDIR', 'EACCES', 'ENXIO')) return undefined;
    throw error;
  } finally {
    if (folder !== undefined) closeSync(folder);
  }
}

function rows(pid: number, name: 'passwd' | 'group'): string[][] {
  const fd = openInEtc(pid, name);
  if (fd === undefined) return [];
  try {
    if (!fstatSync(fd).isFile()) return [];
    const buffer = Buffer.alloc(SIZE_LIMIT);
    let size = 0;
    for (let read = -1; read !== 0 && size < SIZE_LIMIT; size += read)
      read = readSync(fd, buffer, size, SIZE_LIMIT - size, null);
    return buffer
      .toString('utf8', 0, size)
      .split('\n')
      .map((line) => line.split(':'));
  } finally {
    closeSync(fd);
  }
}
