/**
 * Folders of this machine that have other file systems mounted below them. In a new user namespace such mounts are
 * locked: the kernel lets nobody look beneath, and so no overlay mount can lie over the folder.
 */
import * as fs from 'node:fs';
import { basename, join } from 'node:path';
import { SbxError } from '../../errors.ts';
import type { Layout } from './layout.ts';
import { type Part, partsOf, toolParts } from './parts.ts';
import type { SandboxRecord } from './record.ts';
import { isRoot } from './system.ts';

/** Parts that may start without this machine's files. */
const OPTIONAL = ['var', 'opt'];

/** The mount points of this process, unescaped. */
export function mountPoints(): string[] {
  return fs
    .readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map((path) =>
      path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8))),
    );
}

/**
 * The parts with folders that can be overlaid. Root shows a folder with mounts below it without them, under `layout.host`;
 * a plain user cannot, so the part starts empty where that does no harm. So does one that the state folder lies in: no
 * overlay mount can have its upper folder below its lower one, and no sandbox may see it.
 */
export function overlayable(layout: Layout, parts: readonly Part[]): Part[] {
  return parts.map((part) => {
    const shown = withoutMounts(layout, part);
    if (shown.host !== undefined || part.host === undefined) return shown;
    if (OPTIONAL.includes(part.name)) return shown;
    refuseState(layout, part.host);
    throw new SbxError(
      'failed',
      `other file systems are mounted below ${part.host}, which only root may leave out of a sandbox`,
      {
        hint: 'run sbx as root, or use a rootfs: sbx create --rootfs DIR',
      },
    );
  });
}

/** The parts with this machine's programs; one without a folder cannot be overlaid, only shown as it is. */
export function overlayableTools(layout: Layout): Part[] {
  return toolParts().map((part) => {
    refuseState(layout, part.host);
    return withoutMounts(layout, part);
  });
}

function withoutMounts(layout: Layout, part: Part): Part {
  const { host, ...empty } = part;
  if (host === undefined) return part;
  if (isBelow(stateFolder(layout), host)) return empty;
  if (!mountPoints().some((path) => path !== host && isBelow(path, host))) return part;
  if (!isRoot()) return empty;
  // The options of a mount have no way to write a quote, which the state folder's name may have.
  const lower = `../../${basename(layout.host)}/${part.name}`;
  return { ...part, host: join(layout.host, part.name), lower };
}

function refuseState(layout: Layout, host: string): void {
  if (!isBelow(stateFolder(layout), host)) return;
  throw new SbxError('failed', `the state folder ${layout.root} lies in ${host}, which the sandbox shows`, {
    hint: 'choose another folder: export SBX_STATE_DIR=/path/to/folder',
  });
}

/** Where the state folder really is. */
function stateFolder(layout: Layout): string {
  return fs.existsSync(layout.root) ? fs.realpathSync(layout.root) : layout.root;
}

function isBelow(path: string, folder: string): boolean {
  return folder === '/' || path === folder || path.startsWith(`${folder}/`);
}

/** The argv that shows the folders of {@link overlayable} and {@link overlayableTools} and then runs `argv`. */
export function withoutSubmounts(
  layout: Layout,
  record: SandboxRecord,
  argv: [string, ...string[]],
): [string, ...string[]] {
  const own = partsOf(record);
  const tools = overlayableTools(layout).filter(({ name }) => !own.some((part) => part.name === name));
  const original = new Map([...own, ...toolParts()].map((part) => [part.name, part.host]));
  const moved = [...overlayable(layout, own), ...tools].filter(
    (part) => part.host?.startsWith(`${layout.host}/`) === true,
  );
  if (moved.length === 0) return argv;
  const pairs = moved.flatMap((part) => [original.get(part.name) ?? '', part.host ?? '']);
  for (const part of moved) fs.mkdirSync(part.host ?? '', { recursive: true, mode: 0o700 });
  const script =
    'n=$1; shift; while [ "$n" -gt 0 ]; do mount --bind "$1" "$2" || exit 1; shift 2; n=$((n - 1)); done; exec "$@"';
  return [
    'unshare',
    '--mount',
    '--',
    '/bin/sh',
    '-c',
    script,
    'sbx-host',
    String(moved.length),
    ...pairs,
    ...argv,
  ];
}

/** The names of the parts that start without this machine's folder. */
export function emptyParts(layout: Layout, record: SandboxRecord): string[] {
  const parts = partsOf(record);
  return overlayable(layout, parts).flatMap((part, index) =>
    part.host === undefined && parts[index]?.host !== undefined ? [part.name] : [],
  );
}
