/**
 * The base layer that lies between this machine's folders and a sandbox: it hides what must not be seen and adds what
 * a sandbox needs. Root of a sandbox made by root reads files as root does, so whatever not everybody on this machine
 * may read is hidden: a file is gone, a folder is empty.
 */
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { hasErrno, SbxError } from '../../errors.ts';
import { ensureFolder } from '../../store/folder.ts';
import { randomHex } from '../../util/random-id.ts';
import { GUEST_FOLDER, type Layout } from './layout.ts';
import { MAYBE_LINKS, machineParts } from './parts.ts';
import { isRoot, SYSTEM_ENV } from './system.ts';

/** How long a look at this machine's files is good for, in milliseconds. */
const SCAN_AGE_MS = 10 * 60_000;
const SCANNED = ['/etc', '/opt', '/var', '/usr/local'];
/** Folders that a plain user's sandbox may write to although they are root's on this machine. */
const WRITABLE = [
  ...[
    'etc',
    'opt',
    'var',
    'var/cache',
    'var/lib',
    'var/local',
    'var/log',
    'var/mail',
    'var/opt',
    'var/spool',
    'var/tmp',
  ],
  ...['usr/local', 'usr/local/bin', 'usr/local/etc', 'usr/local/include', 'usr/local/lib', 'usr/local/sbin'],
  ...['usr/local/share', 'usr/local/src'],
];
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];
export const BASE_FOLDER = 'base';
/** Where this machine's folders stay reachable for us, below a cover: see capture-running.ts. */
export const HIDDEN_FOLDER = '.sbx';

/** The devices of a sandbox, by name below /dev. */
export const BASE_DEVICES: readonly string[] = DEVICES;

/** The name below `base/` of a base layer that fits this machine now; made when it is missing. */
export async function ensureBase(layout: Layout): Promise<string> {
  const folder = join(layout.root, BASE_FOLDER);
  const current = join(folder, 'current');
  const known = readCurrent(current);
  if (known !== undefined && fs.existsSync(join(folder, known))) return known;
  ensureFolder(folder);
  const hidden = isRoot() ? scan() : [];
  const state = hiddenState(layout);
  if (state !== undefined) hidden.push(state);
  const { createHash } = await import('node:crypto');
  const name = createHash('sha256')
    .update(JSON.stringify([4, hidden, isRoot(), machineParts()]))
    .digest('hex')
    .slice(0, 16);
  if (!fs.existsSync(join(folder, name))) await build(folder, name, hidden);
  const temporary = `${current}.${randomHex(4)}`;
  fs.writeFileSync(temporary, name, { mode: 0o600 });
  fs.renameSync(temporary, current);
  return name;
}

function readCurrent(path: string): string | undefined {
  try {
    const age = Date.now() - fs.statSync(path).mtimeMs;
    return age < SCAN_AGE_MS ? fs.readFileSync(path, 'utf8') : undefined;
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/** Something to hide; a folder keeps its owner and mode, so that programs that expect it still work. */
interface Hidden {
  readonly path: string;
  readonly folder?: { readonly mode: number; readonly uid: number; readonly gid: number };
}

function scan(): Hidden[] {
  const found = ['(', '-type', 'd', '!', '-perm', '-005', '-prune', '-print0', ')', '-o'];
  const files = ['(', '!', '-type', 'd', '!', '-type', 'l', '!', '-perm', '-004', '-print0', ')'];
  const roots = SCANNED.filter((path) => fs.existsSync(path));
  const output = execFileSync('find', [...roots, '-xdev', ...found, ...files], {
    env: SYSTEM_ENV,
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const hidden: Hidden[] = [];
  for (const path of output.toString('utf8').split('\0')) {
    if (path === '') continue;
    const stat = fs.lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    hidden.push(
      stat.isDirectory()
        ? { path, folder: { mode: stat.mode & 0o7777, uid: stat.uid, gid: stat.gid } }
        : { path },
    );
  }
  return hidden;
}

/** Our own state, where it lies in a folder that a sandbox sees. */
function hiddenState(layout: Layout): Hidden | undefined {
  const inside = machineParts().some(
    (part) => part.host !== undefined && layout.root.startsWith(`${part.host}/`),
  );
  return inside ? { path: layout.root, folder: { mode: 0o700, uid: 0, gid: 0 } } : undefined;
}

async function build(folder: string, name: string, hidden: readonly Hidden[]): Promise<void> {
  const target = join(folder, `.new-${randomHex(6)}`);
  for (const part of machineParts()) ensureParents(join(target, part.name));
  skeleton(join(target, 'root'));
  await mask(target, hidden);
  if (isRoot()) passwords(join(target, 'etc'));
  else for (const path of WRITABLE) if (isPlainFolder(`/${path}`)) ensureParents(join(target, path));
  ensureParents(join(target, relative('/', GUEST_FOLDER)));
  // Places for the files of identity.ts; on this machine one of them may be a link.
  for (const name of ['hosts', 'hostname', 'resolv.conf'])
    if (!isPlainFile(`/etc/${name}`)) fs.writeFileSync(join(target, 'etc', name), '');
  greeting(join(target, 'root-home'));
  try {
    fs.renameSync(target, join(folder, name));
  } catch (error) {
    if (!hasErrno(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    // Another sbx made the same one meanwhile.
    fs.rmSync(target, { recursive: true });
  }
}

/** Mount points and the links of a merged /usr. */
function skeleton(root: string): void {
  for (const name of ['dev/pts', 'dev/shm', 'proc', 'run', 'mnt', 'media', 'boot', 'sys', HIDDEN_FOLDER])
    ensureParents(join(root, name));
  fs.chmodSync(join(root, HIDDEN_FOLDER), 0o700);
  for (const part of machineParts()) if (part.path !== '/') ensureParents(join(root, part.path));
  for (const name of MAYBE_LINKS) {
    const stat = fs.lstatSync(`/${name}`, { throwIfNoEntry: false });
    if (stat?.isSymbolicLink() === true) fs.symlinkSync(fs.readlinkSync(`/${name}`), join(root, name));
  }
  devices(root);
}

/** Names to mount devices on, and the links that programs expect beside them. */
export function devices(root: string): void {
  for (const name of ['dev/pts', 'dev/shm']) ensureParents(join(root, name));
  for (const name of DEVICES) fs.writeFileSync(join(root, 'dev', name), '');
  const links = {
    fd: '/proc/self/fd',
    stdin: '/proc/self/fd/0',
    stdout: '/proc/self/fd/1',
    stderr: '/proc/self/fd/2',
    ptmx: 'pts/ptmx',
  };
  for (const [name, to] of Object.entries(links)) fs.symlinkSync(to, join(root, 'dev', name));
}

async function mask(target: string, hidden: readonly Hidden[]): Promise<void> {
  const files: string[] = [];
  const { default: attributes } = await import('fs-native-extensions');
  for (const { path, folder } of hidden) {
    const place = join(target, path);
    ensureParents(dirname(place));
    if (folder === undefined) {
      files.push(place);
      continue;
    }
    ensureParents(place);
    const fd = fs.openSync(place, 'r');
    try {
      await attributes.setAttr(fd, 'user.overlay.opaque', 'y');
    } catch (cause) {
      throw new SbxError('failed', `the file system of ${target} takes no extended attributes`, {
        hint: 'choose a folder on ext4, xfs or btrfs: SBX_STATE_DIR=…',
        cause,
      });
    } finally {
      fs.closeSync(fd);
    }
    if (isRoot()) fs.chownSync(place, folder.uid, folder.gid);
    fs.chmodSync(place, folder.mode);
  }
  if (files.length === 0) return;
  // A character device 0/0 is what says "removed" to an overlay mount.
  const script = 'while IFS= read -r f; do mknod "$f" c 0 0 || exit 1; done';
  const lines = files.filter((path) => !path.includes('\n'));
  execFileSync('/bin/sh', ['-c', script], {
    env: SYSTEM_ENV,
    input: `${lines.join('\n')}\n`,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
}

/** The users of this machine without their passwords, so that `useradd` and `su` work inside. */
function passwords(etc: string): void {
  const names = (file: string) =>
    fs
      .readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.split(':')[0] ?? '')
      .filter((name) => name !== '');
  const write = (name: string, lines: string[]) => {
    const path = join(etc, name);
    fs.rmSync(path, { force: true });
    fs.writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o600 });
  };
  write(
    'shadow',
    names('/etc/passwd').map((name) => `${name}:*:19000:0:99999:7:::`),
  );
  write(
    'gshadow',
    names('/etc/group').map((name) => `${name}:*::`),
  );
}

/** What a new user of this machine gets in the home. */
function greeting(home: string): void {
  if (fs.existsSync('/etc/skel')) fs.cpSync('/etc/skel', home, { recursive: true, errorOnExist: false });
}

function isPlainFile(path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function isPlainFolder(path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Folders of a layer are everybody's to enter: overlay mounts show their modes inside. */
function ensureParents(path: string): void {
  fs.mkdirSync(path, { recursive: true, mode: 0o755 });
}
