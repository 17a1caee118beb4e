/**
 * The base layer that lies between this machine's folders and a sandbox: it hides what must not be seen and adds what
 * a sandbox needs. Root of a sandbox made by root reads files as root does, so whatever not everybody on this machine
 * may read is hidden: a file is gone, a folder is empty.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { hasErrno, SbxError } from '../../errors.ts';
import { ensureFolder } from '../../store/folder.ts';
import { randomHex } from '../../util/random-id.ts';
import { BASE_FOLDER, HIDDEN_FOLDER, TOOLS_FOLDER, TOOLS_PART } from './base-folders.ts';
import { GUEST_FOLDER, type Layout } from './layout.ts';
import { MAYBE_LINKS, machineParts, ROOT_PART, ROOTFS_BASE, toolParts } from './parts.ts';
import { isRoot, SYSTEM_ENV } from './system.ts';

/** How long a look at this machine's files is good for, in milliseconds. */
const SCAN_AGE_MS = 60_000;
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
/** The devices of a sandbox, by name below /dev. */
export const BASE_DEVICES: readonly string[] = DEVICES;

/** The name below `base/` of a base layer that fits this machine now; made when it is missing. */
export async function ensureBase(layout: Layout): Promise<string> {
  const folder = join(layout.root, BASE_FOLDER);
  const current = join(folder, 'current');
  const known = readCurrent(current);
  if (known !== undefined && fs.existsSync(join(folder, known, ROOTFS_BASE))) return known;
  ensureFolder(folder);
  const hidden = scan();
  const { createHash } = await import('node:crypto');
  const name = createHash('sha256')
    .update(JSON.stringify([6, hidden, isRoot(), machineParts()]))
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

/** What this user may read and others may not. */
function scan(): Hidden[] {
  const mine = isRoot() ? [] : ['-readable'];
  const found = ['(', '-type', 'd', '!', '-perm', '-005', '-prune', ...mine, '-print0', ')', '-o'];
  const files = ['(', '!', '-type', 'd', '!', '-type', 'l', '!', '-perm', '-004', ...mine, '-print0', ')'];
  const roots = SCANNED.filter((path) => fs.existsSync(path));
  const { stdout, error, signal } = spawnSync('find', [...roots, '-xdev', ...found, ...files], {
    env: SYSTEM_ENV,
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  // Its exit code tells nothing: a file that vanishes meanwhile makes it 1, as does a folder that is not ours.
  if (error !== undefined || signal !== null)
    throw new SbxError('failed', 'cannot look for what has to be hidden from sandboxes', { cause: error });
  const hidden: Hidden[] = [];
  for (const path of stdout.toString('utf8').split('\0')) {
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

async function build(folder: string, name: string, hidden: readonly Hidden[]): Promise<void> {
  const target = join(folder, `.new-${randomHex(6)}`);
  try {
    await fill(target, hidden);
  } catch (error) {
    fs.rmSync(target, { recursive: true, force: true });
    throw fillError(folder, error);
  }
  try {
    fs.renameSync(target, join(folder, name));
  } catch (error) {
    if (!hasErrno(error, 'ENOTEMPTY', 'EEXIST')) throw error;
    // Another sbx made the same one meanwhile.
    fs.rmSync(target, { recursive: true });
  }
}

/** What a program that we ran had to say names no more than a file that is gone again. */
function fillError(folder: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('stderr' in error)) return error;
  return new SbxError('failed', `cannot make a base layer in ${folder}: ${String(error.stderr).trim()}`, {
    hint: 'choose a folder on ext4, xfs or btrfs: SBX_STATE_DIR=…',
    cause: error,
  });
}

async function fill(target: string, hidden: readonly Hidden[]): Promise<void> {
  for (const part of machineParts()) ensureParents(join(target, part.name));
  for (const name of [ROOT_PART.name, ROOTFS_BASE]) skeleton(join(target, name));
  machineSkeleton(join(target, ROOT_PART.name));
  toolsSkeleton(join(target, TOOLS_PART));
  await mask(target, hidden);
  if (isRoot()) passwords(join(target, 'etc'));
  else for (const path of WRITABLE) if (isPlainFolder(`/${path}`)) ensureParents(join(target, path));
  ensureParents(join(target, relative('/', GUEST_FOLDER)));
  // Places for the files of identity.ts; on this machine one of them may be a link.
  for (const name of ['hosts', 'hostname', 'resolv.conf'])
    if (!isPlainFile(`/etc/${name}`)) fs.writeFileSync(join(target, 'etc', name), '');
  greeting(join(target, 'root-home'));
}

/** Mount points that every sandbox has. */
function skeleton(root: string): void {
  for (const name of [
    'dev/pts',
    'dev/shm',
    'proc',
    'run',
    'mnt',
    'media',
    'boot',
    'sys',
    HIDDEN_FOLDER,
    TOOLS_FOLDER,
  ])
    ensureParents(join(root, name));
  fs.chmodSync(join(root, HIDDEN_FOLDER), 0o700);
  devices(root);
}

function machineSkeleton(root: string): void {
  for (const part of machineParts()) if (part.path !== '/') ensureParents(join(root, part.path));
  mergedLinks(root);
}

function mergedLinks(root: string): void {
  for (const name of MAYBE_LINKS) {
    const stat = fs.lstatSync(`/${name}`, { throwIfNoEntry: false });
    if (stat?.isSymbolicLink() === true) fs.symlinkSync(fs.readlinkSync(`/${name}`), join(root, name));
  }
}

/** Mount points of the programs and libraries, and nothing that a dynamic loader would take orders from. */
function toolsSkeleton(root: string): void {
  for (const part of toolParts()) ensureParents(join(root, part.name));
  mergedLinks(root);
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
  const options = { env: SYSTEM_ENV, stdio: ['pipe', 'ignore', 'pipe'] as ['pipe', 'ignore', 'pipe'] };
  const lines = files.filter((path) => !path.includes('\n'));
  execFileSync('/bin/sh', ['-c', script], { ...options, input: lines.map((path) => `${path}\n`).join('') });
  for (const path of files.filter((path) => path.includes('\n')))
    execFileSync('mknod', [path, 'c', '0', '0'], options);
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
