/**
 * What a list says of each sandbox, gathered in one file: two looks at a sandbox instead of two files to read. It is
 * never believed: an entry counts only while the files it was taken from are the very same ones, and without the file
 * a list takes longer, nothing else.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SbxError } from '../../errors.ts';
import { readJsonFile, removeLeftovers, writeOwnFile } from '../../store/json-file.ts';
import { type InitProcess, tryInit } from './init-process.ts';
import { initPath, type Layout, recordPath } from './layout.ts';
import { type SandboxRecord, tryRecord } from './record.ts';

/** What a list says of a sandbox that does not run. */
export type ListedRecord = Pick<
  SandboxRecord,
  | 'id'
  | 'name'
  | 'phase'
  | 'createdAt'
  | 'expiresAt'
  | 'labels'
  | 'network'
  | 'limits'
  | 'workdir'
  | 'user'
  | 'command'
  | 'rootfsSource'
  | 'snapshot'
  | 'isolation'
>;
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

/** Tells a file from what was or will be in its place: inode, size, time of change. */
type Stamp = readonly [ino: number, size: number, changed: number];

interface Entry {
  readonly record: ListedRecord;
  readonly recordStamp: Stamp;
  readonly init: ListedInit | undefined;
  readonly initStamp?: Stamp | undefined;
}

interface Index {
  readonly version: 1;
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
      const record = recordPath(layout, id);
      const init = initPath(layout, id);
      const known = old[id];
      if (known !== undefined && isCurrent(known, record, init)) {
        current++;
        return known;
      }
      // Looked at before they are read: one that changes in between is another one at the next look.
      const recordStamp = stampOf(record, now());
      const initStamp = stampOf(init, now());
      const found = { record: tryRecord(record), init: tryInit(init) };
      fresh.set(id, entryOf(found, recordStamp, initStamp));
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
      const text = JSON.stringify({ version: 1, entries } satisfies Index);
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

function isCurrent(entry: Entry, record: string, init: string): boolean {
  if (!isSame(entry.recordStamp, record)) return false;
  return entry.initStamp === undefined ? !existsSync(init) : isSame(entry.initStamp, init);
}

function isSame([ino, size, changed]: Stamp, path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && stat.ino === ino && stat.ctimeMs === changed && stat.size === size;
}

/** Undefined: there is no such file. `unsettled`: it changed too lately to be told from a later one. */
function stampOf(path: string, now: number): Stamp | 'unsettled' | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  return stat.ctimeMs + SETTLED_MS < now ? [stat.ino, stat.size, stat.ctimeMs] : 'unsettled';
}

/** What is kept of a sandbox; undefined where nothing can be. */
function entryOf(
  { record, init }: Listed,
  recordStamp: Stamp | 'unsettled' | undefined,
  initStamp: Stamp | 'unsettled' | undefined,
): Entry | undefined {
  if (record === undefined || record instanceof SbxError || init instanceof SbxError) return undefined;
  if (recordStamp === undefined || recordStamp === 'unsettled' || initStamp === 'unsettled') return undefined;
  if ((init === undefined) !== (initStamp === undefined)) return undefined;
  const { id, name, phase, createdAt, expiresAt, labels, network, limits, workdir, user, command } = record;
  const { rootfsSource, snapshot, isolation } = record;
  return {
    record: {
      ...{ id, name, phase, createdAt, expiresAt, labels, network, limits, workdir, user, command },
      ...{ rootfsSource, snapshot, isolation },
    },
    recordStamp,
    init: init === undefined ? undefined : listedInit(init),
    initStamp,
  };
}

function listedInit({ pid, startTicks, bootId, startedAt, network, paused }: ListedInit): ListedInit {
  return { pid, startTicks, bootId, startedAt, network, paused };
}

function validate(value: unknown): Index {
  const index = value as Partial<Index> | null;
  if (index?.version !== 1 || typeof index.entries !== 'object' || index.entries === null)
    throw new Error('it is not a listing');
  return index as Index;
}
