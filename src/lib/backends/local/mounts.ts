/** The mounts of a sandbox as an fstab, so that one program makes them all. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { SbxError } from '../../errors.ts';
import { BASE_DEVICES } from './base.ts';
import { BASE_FOLDER, HIDDEN_FOLDER, TOOLS_FOLDER, TOOLS_PART } from './base-folders.ts';
import { overlayable, overlayableTools } from './host-folders.ts';
import { GUEST_FOLDER, type Layout, sandboxLayout } from './layout.ts';
import { type Part, partsOf } from './parts.ts';
import type { SandboxRecord } from './record.ts';

/** The kernel takes one page of options; file names in them are relative to the layers' folder. */
const OPTIONS_LIMIT = 4000;

/** Options of the overlay mount of `part`, with paths relative to the layers' folder. */
export function overlayOptions(record: SandboxRecord, part: Part, base: string): string {
  const layers = (record.layers[part.name] ?? []).map((id) => `${id}/${part.name}`);
  const lower = [...layers, `../${BASE_FOLDER}/${base}/${part.base ?? part.name}`];
  if (part.host !== undefined) lower.push(part.lower ?? escapeOption(part.host));
  const own = `../sandboxes/${record.id}`;
  const options = `userxattr,lowerdir=${lower.join(':')},upperdir=${own}/upper/${part.name},workdir=${own}/work/${part.name}`;
  if (options.length > OPTIONS_LIMIT) {
    throw new SbxError(
      'failed',
      `sandbox '${record.name}' has too many layers (${layers.length}) for one mount`,
      {
        hint: `copy what you need to a new one: sbx cp ${record.name}:/workspace …`,
      },
    );
  }
  return options;
}

/** Makes the upper and work folders that are missing, with the modes that the parts shall have inside. */
export function ensureUppers(layout: Layout, record: SandboxRecord): void {
  const { upper, work } = sandboxLayout(layout, record.id);
  for (const part of partsOf(record)) {
    const place = join(upper, part.name);
    fs.mkdirSync(join(work, part.name), { recursive: true, mode: 0o700 });
    if (fs.existsSync(place)) continue;
    fs.mkdirSync(place, { recursive: true });
    fs.chmodSync(place, partMode(part));
  }
}

function partMode(part: Part): number {
  if (part.name === 'tmp') return 0o1777;
  if (part.name === 'root-home') return 0o700;
  return part.host === undefined ? 0o755 : fs.statSync(part.host).mode & 0o7777;
}

/** A step of putting a root together: an fstab, and the places that have to be real files and folders before. */
export interface MountStep {
  readonly fstab: string;
  /** Lines of `file PATH` and `folder PATH`. */
  readonly places: string;
}

/** Files of a sandbox that say who and where it is; they are ours, lie outside its layers and are mounted on top. */
export const IDENTITY_FILES = ['hosts', 'hostname', 'resolv.conf'];

/**
 * The three steps in which the root of a sandbox is put together at `root`: its own root, the other parts, and what
 * is mounted on places within those.
 */
export function mountSteps(layout: Layout, record: SandboxRecord, base: string, root: string): MountStep[] {
  const { guest, identity } = sandboxLayout(layout, record.id);
  const [first, ...others] = overlayable(layout, partsOf(record));
  const overlay = (part: Part) => mount('overlay', part.path, 'overlay', overlayOptions(record, part, base));
  const extra = [
    ...BASE_DEVICES.map((name) => mount(`/dev/${name}`, `/dev/${name}`, 'none', 'bind', 'file')),
    mount('devpts', '/dev/pts', 'devpts', 'newinstance,ptmxmode=0666,mode=620,nosuid,noexec'),
    mount('shm', '/dev/shm', 'tmpfs', 'mode=1777,nosuid,nodev'),
    mount('run', '/run', 'tmpfs', 'mode=755,nosuid,nodev'),
    mount(guest, GUEST_FOLDER, 'none', 'bind,nosuid,nodev'),
    ...IDENTITY_FILES.map((name) =>
      mount(join(identity, name), `/etc/${name}`, 'none', 'bind,nosuid,nodev', 'file'),
    ),
    mount('hidden', `/${HIDDEN_FOLDER}`, 'tmpfs', 'mode=700'),
    mount(layout.root, `/${HIDDEN_FOLDER}/state`, 'none', 'rbind,X-mount.mkdir', 'later'),
    // With what is mounted below: the kernel refuses to show what such a mount hides.
    ...[first, ...others].flatMap((part) =>
      part?.host === undefined
        ? []
        : [mount(part.host, `/${HIDDEN_FOLDER}/host/${part.name}`, 'none', 'rbind,X-mount.mkdir', 'later')],
    ),
    mount('cover', `/${HIDDEN_FOLDER}`, 'tmpfs', 'ro,mode=000,size=4k', 'later'),
    mount(
      join(layout.root, BASE_FOLDER, base, TOOLS_PART),
      `/${TOOLS_FOLDER}`,
      'none',
      'bind,ro,nosuid,nodev',
    ),
    ...overlayableTools(layout).map((part) => toolsMount(part, base)),
  ];
  const places = ['/proc', '/mnt'].map((path) => ({ kind: 'folder', path }));
  return [first === undefined ? [] : [{ ...overlay(first), kind: 'later' }], others.map(overlay), extra].map(
    (mounts, step) => ({
      fstab: mounts
        .map(
          ({ source, path, type, options }) =>
            `${[source, join(root, path), type, options].map(escapeField).join(' ')} 0 0\n`,
        )
        .join(''),
      places: [...mounts, ...(step === 2 ? places : [])]
        .filter(({ kind }) => kind !== 'later')
        .map(({ kind, path }) => `${kind} ${join(root, path)}\n`)
        .join(''),
    }),
  );
}

/** Without an upper folder an overlay mount is read-only, the programs that it shows included. */
function toolsMount(part: Part, base: string): Mount {
  const place = `/${TOOLS_FOLDER}${part.path}`;
  if (part.host === undefined) return mount(part.path, place, 'none', 'rbind,ro,nosuid,nodev', 'later');
  const lower = [`../${BASE_FOLDER}/${base}/${part.name}`, part.lower ?? escapeOption(part.host)];
  return mount('overlay', place, 'overlay', `userxattr,lowerdir=${lower.join(':')}`, 'later');
}

interface Mount {
  readonly source: string;
  readonly path: string;
  readonly type: string;
  readonly options: string;
  /** What the place has to be; `later`: it is made by a mount of the same step. */
  readonly kind: 'file' | 'folder' | 'later';
}

function mount(
  source: string,
  path: string,
  type: string,
  options: string,
  kind: Mount['kind'] = 'folder',
): Mount {
  return { source, path, type, options, kind };
}

function escapeField(text: string): string {
  return text.replace(/[\s\\#]/g, (sign) => `\\${sign.charCodeAt(0).toString(8).padStart(3, '0')}`);
}

/** `:` and `,` part lower folders and options. */
function escapeOption(path: string): string {
  return path.replace(/[\\:,]/g, (sign) => `\\${sign}`);
}
