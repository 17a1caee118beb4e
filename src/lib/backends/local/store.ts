/** Finding and naming local sandboxes on the disk. */
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import type { Call } from '../../backend/contract.ts';
import { noSandbox } from '../../backend/no-sandbox.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { fileError } from '../../store/file-error.ts';
import { ensureFolder } from '../../store/folder.ts';
import { acquireLock } from '../../store/lock.ts';
import { randomHex } from '../../util/random-id.ts';
import { type Layout, sandboxLayout } from './layout.ts';
import { readRecord, type SandboxRecord } from './record.ts';

const ID = /^[0-9a-f]{12}$/;

/** A new id for a sandbox, layer or snapshot. */
export function newId(): string {
  return randomHex(6);
}

/** Makes the folders of the layout. */
export function ensureLayout(layout: Layout): void {
  if (layout.root.includes('\n')) {
    throw new SbxError(
      'failed',
      `the name of the state folder ${JSON.stringify(layout.root)} has a line break`,
      {
        hint: 'choose another folder: SBX_STATE_DIR=…',
      },
    );
  }
  for (const folder of [
    layout.root,
    layout.sandboxes,
    layout.names,
    layout.pending,
    layout.layers,
    layout.snapshots,
  ])
    ensureFolder(folder);
  refuseForeign(layout);
}

/** Whoever owns the folder could lead us anywhere with links, so only our own and root's will do. */
function refuseForeign(layout: Layout): void {
  const own = process.geteuid?.();
  for (const folder of [dirname(layout.root), layout.root]) {
    const owner = fs.statSync(folder, { throwIfNoEntry: false })?.uid;
    if (owner === undefined || owner === own || owner === 0) continue;
    throw new SbxError('failed', `cannot use ${folder}: it belongs to user ${owner}, not to user ${own}`, {
      hint: 'run sbx as that user, or choose another folder: SBX_STATE_DIR=…',
    });
  }
}

/** The id that `ref` stands for: a name, an id, or an unambiguous beginning of one of at least four signs. */
export function findId(layout: Layout, ref: string): string | undefined {
  refuseForeign(layout);
  const byName = readName(layout, ref);
  if (byName !== undefined) return byName;
  if (ID.test(ref) && fs.existsSync(join(layout.sandboxes, ref))) return ref;
  if (!/^[0-9a-f]{4,11}$/.test(ref)) return undefined;
  const matches = allIds(layout).filter((id) => id.startsWith(ref));
  return matches.length === 1 ? matches[0] : undefined;
}

/** The record of `ref`; `not_found` when there is no such sandbox. */
export function findRecord(layout: Layout, ref: string, backend: string): SandboxRecord {
  const id = findId(layout, ref);
  const record = id === undefined ? undefined : readRecord(sandboxLayout(layout, id).record);
  return presentRecord(record, ref, backend);
}

/** `record`, which was found for `ref`, if that is a whole sandbox; else the error that says why not. */
export function presentRecord(
  record: SandboxRecord | undefined,
  ref: string,
  backend: string,
): SandboxRecord {
  if (record === undefined || record.phase === 'removing') throw noSandbox(ref, backend);
  if (record.phase === 'creating') {
    throw new SbxError('conflict', `sandbox '${ref}' is still being created`, {
      backend,
      retryable: true,
      hint: 'sbx ls --all',
    });
  }
  return record;
}

/** Ids of all sandboxes, half-made ones included. */
export function allIds(layout: Layout): string[] {
  try {
    refuseForeign(layout);
    return fs.readdirSync(layout.sandboxes).filter((name) => ID.test(name));
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw fileError('cannot read', layout.sandboxes, error);
  }
}

/** Takes `name` for `id`, all at once or not at all. `conflict` when somebody else has it. */
export async function takeName(
  layout: Layout,
  name: string,
  id: string,
  call: Call,
  backend: string,
): Promise<void> {
  if (link(layout, name, id)) return;
  if (isDangling(layout, name)) {
    // One at a time, or the second would take away what the first has just taken.
    using _lock = await acquireLock(join(layout.root, 'names.lock'), call);
    if (isDangling(layout, name)) fs.rmSync(join(layout.names, name), { force: true, recursive: true });
    if (link(layout, name, id)) return;
  }
  throw new SbxError('conflict', `there is a sandbox '${name}' already`, {
    backend,
    hint: `use it, choose another name, or remove it: sbx rm --force ${name}`,
  });
}

function link(layout: Layout, name: string, id: string): boolean {
  const path = join(layout.names, name);
  try {
    fs.symlinkSync(id, path);
    return true;
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) return false;
    throw fileError('cannot make', path, error);
  }
}

/** Whether nothing is behind a name that is taken. */
function isDangling(layout: Layout, name: string): boolean {
  const holder = readName(layout, name);
  return holder === undefined || !fs.existsSync(join(layout.sandboxes, holder));
}

/** The names that sandbox `id` has: one, except while it is renamed or after its record broke. */
export function namesOf(layout: Layout, id: string): string[] {
  return fs.readdirSync(layout.names).filter((name) => readName(layout, name) === id);
}

/** Gives the name up, if it still is the one of `id`. */
export function releaseName(layout: Layout, name: string, id: string | undefined): void {
  if (readName(layout, name) === id) fs.rmSync(join(layout.names, name), { force: true });
}

function readName(layout: Layout, name: string): string | undefined {
  if (name === '' || name.includes('/') || name.startsWith('.')) return undefined;
  try {
    const id = fs.readlinkSync(join(layout.names, name));
    return ID.test(id) ? id : undefined;
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'EINVAL', 'ENAMETOOLONG')) return undefined;
    throw fileError('cannot read', join(layout.names, name), error);
  }
}
