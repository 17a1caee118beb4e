/** What is kept of forwards in the background: one file each under the state folder, and a log beside it. */
import { open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasErrno, SbxError } from '../../errors.ts';
import { readJsonFile, writeJsonFile } from '../../store/json-file.ts';
import { randomHex } from '../../util/random-id.ts';
import { processIdentity } from './process-identity.ts';
import type { EstablishedForward } from './types.ts';

/** A forward in the background, as its own process wrote it down. */
export interface ForwardRecord {
  readonly id: string;
  readonly pid: number;
  /** See `processIdentity`. */
  readonly identity: string;
  readonly sandbox: string;
  readonly backend: string;
  readonly createdAt: string;
  readonly forwards: readonly EstablishedForward[];
}

/** A record and what is true of it now. */
export interface BackgroundForward extends ForwardRecord {
  /** `ended`: its process is gone without having been stopped. */
  readonly state: 'running' | 'ended';
  readonly log: string;
  /** The last error in its log, else the last line there. */
  readonly lastLine?: string | undefined;
}

export interface ForwardList {
  readonly forwards: readonly BackgroundForward[];
  /** Records that cannot be read, each with its path. */
  readonly broken: readonly SbxError[];
}

const ID = /^[0-9a-f]{6}$/;
const LOG_TAIL = 4096;

/** A name for a new one. */
export function newForwardId(): string {
  return randomHex(3);
}

/** @throws SbxError `usage` for what is no id. */
export function checkForwardId(id: string): string {
  if (ID.test(id)) return id;
  throw new SbxError('usage', `not the id of a forward: ${id}`, { hint: 'see them: sbx forward ls' });
}

export function recordPath(state: string, id: string): string {
  return join(state, 'forwards', `${id}.json`);
}

export function logPath(state: string, id: string): string {
  return join(state, 'forwards', `${id}.log`);
}

export function writeRecord(state: string, record: ForwardRecord): void {
  writeJsonFile(recordPath(state, record.id), record, { durable: false });
}

/** Forgets one; a missing one is no error. */
export async function removeRecord(state: string, id: string): Promise<void> {
  await rm(recordPath(state, id), { force: true });
  await rm(logPath(state, id), { force: true });
}

/** All of them, the oldest first, each checked against the processes of this machine. */
export async function listForwards(state: string): Promise<ForwardList> {
  const broken: SbxError[] = [];
  const found: BackgroundForward[] = [];
  for (const id of await ids(state)) {
    try {
      const forward = await readForward(state, id);
      if (forward !== undefined) found.push(forward);
    } catch (error) {
      if (!(error instanceof SbxError)) throw error;
      broken.push(error);
    }
  }
  found.sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  return { forwards: found, broken };
}

/** One of them; undefined when there is none. @throws SbxError `failed` when its record is broken. */
export async function readForward(state: string, id: string): Promise<BackgroundForward | undefined> {
  const record = readJsonFile(recordPath(state, id), validate);
  if (record === undefined) return undefined;
  const alive = (await processIdentity(record.pid)) === record.identity;
  const log = logPath(state, id);
  const { line } = await readLogEnd(log);
  return {
    ...record,
    id,
    state: alive ? 'running' : 'ended',
    log,
    ...(line === undefined ? {} : { lastLine: line }),
  };
}

async function ids(state: string): Promise<string[]> {
  try {
    const names = await readdir(join(state, 'forwards'));
    return names
      .filter((name) => name.endsWith('.json'))
      .map((name) => name.slice(0, -'.json'.length))
      .filter((id) => ID.test(id));
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw new SbxError('failed', `cannot read ${join(state, 'forwards')}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** What a log ends with. */
export interface LogEnd {
  /** The last error, else the last line. */
  readonly line?: string;
  readonly hint?: string;
}

/** Reads the end of a log; nothing when it is empty or missing. */
export async function readLogEnd(path: string): Promise<LogEnd> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return {};
    throw new SbxError('failed', `cannot read ${path}: ${(error as Error).message}`, { cause: error });
  }
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(Math.min(size, LOG_TAIL));
    await file.read(tail, 0, tail.length, size - tail.length);
    const lines = tail.toString('utf8').trim().split('\n');
    const after = (prefix: string) => lines.findLast((line) => line.startsWith(prefix))?.slice(prefix.length);
    const line = after('error: ') ?? lines.at(-1);
    const hint = after('hint: ');
    return { ...(line ? { line } : {}), ...(hint === undefined ? {} : { hint }) };
  } finally {
    await file.close();
  }
}

/** Checks a record; messages name the field. */
function validate(value: unknown): ForwardRecord {
  const record = value as Partial<ForwardRecord> | null;
  if (typeof record !== 'object' || record === null) throw new Error('it holds no object');
  for (const field of ['id', 'identity', 'sandbox', 'backend', 'createdAt'] as const) {
    if (typeof record[field] !== 'string') throw new Error(`${field} is not a text`);
  }
  if (!Number.isSafeInteger(record.pid) || Number(record.pid) <= 0)
    throw new Error('pid is not a process number');
  if (!Array.isArray(record.forwards) || !record.forwards.every(isForward))
    throw new Error('forwards is not a list of forwards');
  return record as ForwardRecord;
}

function isForward(value: unknown): value is EstablishedForward {
  const forward = value as Partial<EstablishedForward> | null;
  return (
    typeof forward === 'object' &&
    forward !== null &&
    (forward.direction === 'forward' || forward.direction === 'reverse') &&
    typeof forward.sandbox === 'string' &&
    typeof forward.remote === 'number' &&
    ['string', 'undefined'].includes(typeof forward.address) &&
    ['string', 'undefined'].includes(typeof forward.path) &&
    ['number', 'undefined'].includes(typeof forward.port)
  );
}
