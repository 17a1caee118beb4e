/**
 * What a list says of each sandbox, gathered in one file: one look at a sandbox instead of two files to read. It is
 * never believed: an entry counts only while nothing was made, replaced or removed in the sandbox's folder, where files
 * are never changed in place; without the file a list takes longer, nothing else.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { SbxError } from '../../errors.ts';
import { readJsonFile, removeLeftovers, writeOwnFile } from '../../store/json-file.ts';
import { type InitProcess, tryInit } from './init-process.ts';
import { initPath, type Layout, recordPath } from './layout.ts';
import { type SandboxRecord, tryRecord } from './record.ts';

/** What a list says of a sandbox that does not run; what nearly all have is left out. */
export type ListedRecord = Pick<
  SandboxRecord,
  | 'id'
  | 'name'
  | 'createdAt'
  | 'expiresAt'
  | 'network'
  | 'workdir'
  | 'user'
  | 'command'
  | 'rootfsSource'
  | 'snapshot'
> &
  Partial<Pick<SandboxRecord, 'phase' | 'labels' | 'limits' | 'isolation'>>;
/** What a list says of one that does, once it is known that it still does. */
export type ListedInit = Pick<
  InitProcess,
  'pid' | 'startTicks' | 'bootId' | 'startedAt' | 'network' | 'paused'
>;

/** What there is of a sandbox; of its init process also when that has ended. */
export interface Listed {
  readonly record: ListedRecord | SbxError | undefined;
  readonly init: ListedInit | SbxError | undefined;
}

/** Tells the state of a folder from those before and after: inode, time of change. */
type Stamp = readonly [ino: number, changed: number];

interface Entry {
  readonly stamp: Stamp;
  readonly record: ListedRecord;
  readonly init: ListedInit | undefined;
}

interface Index {
  readonly version: 2;
  readonly entries: Readonly<Record<string, Entry>>;
}

/** Below this many sandboxes the file costs more than it saves. */
const WORTHWHILE = 50;
/** What changed less than this many milliseconds ago may change once more within one tick of the file system's clock. */
const SETTLED_MS = 2000;
/** Most characters of the file. */
const SIZE_LIMIT = 2 * 1024 * 1024;

/** One look at many sandboxes. */
export interface Listing {
  /** What there is of sandbox `id`; broken files come back as errors. */
  read(id: string): Listed;
  /** Keeps what was read for the next look, if that is of use. To be called when all sandboxes were read. */
  save(): Promise<void>;
}

/** Begins a look at these sandboxes. @param now milliseconds, by the clock that dates the files. */
export function openListing(layout: Layout, ids: readonly string[], now: () => number = Date.now): Listing {
  const path = join(layout.root, 'listing.json');
  const isWorthwhile = ids.length >= WORTHWHILE;
  const old = isWorthwhile ? readEntries(path) : {};
  /** What was read anew; undefined for what cannot be kept. */
  const fresh = new Map<string, Entry | undefined>();
  let current = 0;
  return {
    read(id) {
      const known = old[id];
      // Looked at before its files are read: one that changes in between is another one at the next look.
      const stamp = stampOf(`${layout.sandboxes}/${id}`);
      if (known !== undefined && isSame(known.stamp, stamp)) {
        current++;
        return known;
      }
      const found = { record: tryRecord(recordPath(layout, id)), init: tryInit(initPath(layout, id)) };
      fresh.set(id, isSettled(stamp, now()) ? entryOf(found, stamp) : undefined);
      return found;
    },
    async save() {
      const changed = current !== Object.keys(old).length || [...fresh.values()].some(Boolean);
      if (!isWorthwhile || !changed) return;
      const entries = Object.fromEntries(
        ids.flatMap((id) => {
          const entry = fresh.has(id) ? fresh.get(id) : old[id];
          return entry === undefined ? [] : [[id, entry]];
        }),
      );
      const text = JSON.stringify({ version: 2, entries } satisfies Index);
      if (text.length <= SIZE_LIMIT) await write(path, text);
    },
  };
}

function readEntries(path: string): Index['entries'] {
  try {
    return readJsonFile(path, validate)?.entries ?? {};
  } catch (error) {
    // What is in it can all be found elsewhere.
    if (error instanceof SbxError) return {};
    throw error;
  }
}

async function write(path: string, text: string): Promise<void> {
  try {
    const { tryLock } = await import('../../store/lock.ts');
    using lock = await tryLock(`${path}.lock`);
    if (lock === undefined) return;
    removeLeftovers(path);
    writeOwnFile(path, text, { durable: false });
  } catch (error) {
    // A full or read-only disk is no reason to fail for somebody who only looks.
    if (!(error instanceof SbxError)) throw error;
  }
}

/** Undefined: there is no such folder. */
function stampOf(path: string): Stamp | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : [stat.ino, stat.ctimeMs];
}

function isSame([ino, changed]: Stamp, now: Stamp | undefined): boolean {
  return now !== undefined && now[0] === ino && now[1] === changed;
}

/** Whether it changed long enough ago to be told from a later one. */
function isSettled(stamp: Stamp | undefined, now: number): stamp is Stamp {
  return stamp !== undefined && stamp[1] + SETTLED_MS < now;
}

/** What is kept of a sandbox; undefined where nothing can be. */
function entryOf({ record, init }: Listed, stamp: Stamp): Entry | undefined {
  if (record === undefined || record instanceof SbxError || init instanceof SbxError) return undefined;
  const { id, name, phase, createdAt, expiresAt, labels, network, limits, workdir, user, command } = record;
  const { rootfsSource, snapshot, isolation } = record;
  return {
    stamp,
    record: {
      ...{ id, name, createdAt, expiresAt, network, workdir, user, command, rootfsSource, snapshot },
      ...(phase === 'ready' ? {} : { phase }),
      ...(isolation === 'none' ? { isolation } : {}),
      ...(isEmpty(labels) ? {} : { labels }),
      ...(isEmpty(limits) ? {} : { limits }),
    },
    init: init === undefined ? undefined : listedInit(init),
  };
}

function isEmpty(object: object | undefined): boolean {
  return object === undefined || Object.keys(object).length === 0;
}

function listedInit({ pid, startTicks, bootId, startedAt, network, paused }: ListedInit): ListedInit {
  return { pid, startTicks, bootId, startedAt, network, paused };
}

function validate(value: unknown): Index {
  const index = value as Partial<Index> | null;
  if (index?.version !== 2 || typeof index.entries !== 'object' || index.entries === null)
    throw new Error('it is not a listing');
  for (const id in index.entries)
    if (!Array.isArray(index.entries[id]?.stamp)) throw new Error('an entry has no stamp');
  return index as Index;
}
