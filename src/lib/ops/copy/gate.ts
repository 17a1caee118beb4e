/**
 * The gate between an archive that nobody vouches for and whatever writes it: lets through only entries that stay
 * below the place they were asked for. Pure; what is on the disk is the writer's matter.
 */
import { SbxError } from '../../errors.ts';
import type { RawEntry, RawEvent, Tree, TreeEntry } from './tree.ts';

/** Linux's limits, in bytes. */
const PART_LIMIT = 255;
const PATH_LIMIT = 4095;

export interface GateOptions {
  /** The part below which all entries must lie; undefined: anywhere below the destination. */
  readonly top: string | undefined;
  /** Let symlinks through that point out of the copied tree. */
  readonly outwardLinks: boolean;
  /** Drop setuid, setgid and sticky bits. */
  readonly plainModes: boolean;
  /** The paths of symlinks that have passed; shared by all trees that go to one place. */
  readonly links?: Set<string>;
}

/** The entries of `raw`, checked. @throws SbxError `failed` at the first that must not be written. */
export async function* gate(raw: AsyncIterable<RawEvent>, options: GateOptions): Tree {
  const links = options.links ?? new Set<string>();
  for await (const event of raw) {
    yield event.kind === 'data' ? event : { kind: 'entry', entry: check(event.entry, links, options) };
  }
}

function check(raw: RawEntry, links: Set<string>, options: GateOptions): TreeEntry {
  const path = checkPath(raw.path);
  if (path === '.' && raw.type !== 'directory') throw refuse(raw.path, 'has no name');
  if (options.top !== undefined && path !== options.top && !path.startsWith(`${options.top}/`)) {
    throw refuse(raw.path, 'is not below what was asked for');
  }
  if (raw.type === 'other') {
    throw refuse(
      raw.path,
      `is ${raw.what ?? 'not a file'}`,
      `leave it out: --exclude '${raw.path.split('/').at(-1) ?? ''}'`,
    );
  }
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    if (links.has(path.slice(0, slash))) throw refuse(raw.path, 'lies behind a symlink of the same archive');
  }
  if (links.has(path) && raw.type !== 'symlink') throw refuse(raw.path, 'comes twice, first as a symlink');
  const mode = options.plainModes ? raw.mode & 0o777 : raw.mode;
  const entry = {
    path,
    type: raw.type,
    mode,
    uid: raw.uid,
    gid: raw.gid,
    size: raw.size,
    mtimeMs: raw.mtimeMs,
  };
  if (raw.type === 'symlink') {
    const target = raw.target ?? '';
    checkText(target, raw.path, 'points to a name');
    if (target === '' || Buffer.byteLength(target) > PATH_LIMIT)
      throw refuse(raw.path, 'is a symlink without a usable target');
    if (!options.outwardLinks && pointsOut(path, target, options.top)) {
      throw refuse(
        raw.path,
        `is a symlink out of the copied tree (to '${target}')`,
        'leave it out with --exclude, or keep such links as they are with --unsafe-links',
      );
    }
    links.add(path);
    return { ...entry, target };
  }
  if (raw.type === 'hardlink') {
    const target = checkPath(raw.target ?? '');
    const outside =
      options.top !== undefined && target !== options.top && !target.startsWith(`${options.top}/`);
    if (outside || target === '.') throw refuse(raw.path, 'is a hard link to something outside');
    for (let slash = target.indexOf('/'); slash >= 0; slash = target.indexOf('/', slash + 1)) {
      if (links.has(target.slice(0, slash))) throw refuse(raw.path, 'is a hard link through a symlink');
    }
    if (links.has(target)) links.add(path);
    return { ...entry, target };
  }
  return entry;
}

/** The path in its one form. @throws SbxError when it could lead elsewhere or cannot be a name. */
export function checkPath(raw: string): string {
  checkText(raw, raw, 'has a name');
  if (raw === '') throw refuse(raw, 'has no name');
  if (raw.startsWith('/')) throw refuse(raw, 'has an absolute path');
  const parts = raw.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw refuse(raw, "has '..' in its path");
  if (parts.some((part) => Buffer.byteLength(part) > PART_LIMIT))
    throw refuse(raw, 'has a name that is too long');
  const path = parts.join('/') || '.';
  if (Buffer.byteLength(path) > PATH_LIMIT) throw refuse(raw, 'has a path that is too long');
  return path;
}

function checkText(text: string, path: string, has: string): void {
  if (text.includes('\0')) throw refuse(path, `${has} with a NUL in it`);
  // What the decoder puts where bytes are not UTF-8: two such names could not be told apart.
  if (text.includes('\ufffd')) throw refuse(path, `${has} that is not UTF-8`);
}

/**
 * Whether a symlink leaves the tree. `..` may only come first: behind a name, which can be a symlink itself,
 * it would not lead where it seems to.
 */
function pointsOut(path: string, target: string, top: string | undefined): boolean {
  if (target.startsWith('/')) return true;
  const depth = path.split('/').length - 1;
  const room = top === undefined || depth === 0 ? depth : depth - 1;
  const parts = target.split('/').filter((part) => part !== '' && part !== '.');
  const named = parts.findIndex((part) => part !== '..');
  const climbs = named < 0 ? parts.length : named;
  return climbs > room || parts.slice(climbs).includes('..');
}

function refuse(path: string, why: string, hint = 'nothing was written'): SbxError {
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return new SbxError('failed', `refused: '${shown}' ${why}`, { hint });
}
