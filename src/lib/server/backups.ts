/**
 * Backups of the workspace: a packed tar each in a folder of the server's state, and a record in the database. The record is
 * written last and goes first, so that a file without one is never a backup.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import type { Call, Sandbox } from '../backend/contract.ts';
import { need } from '../backend/need.ts';
import { SbxError } from '../errors.ts';
import { fileError } from '../store/file-error.ts';
import { randomHex } from '../util/random-id.ts';
import type { Daemon } from './daemon.ts';
import type { Use } from './fleet.ts';
import { type KeyedLock, keyedLock } from './keyed-lock.ts';
import { type Backup, type BackupRows, backupRows } from './store/backups.ts';

/** What is backed up. */
export const WORKSPACE = '/workspace';

export interface Backups extends Pick<BackupRows, 'list' | 'get'> {
  /** One at a time reads or exchanges the workspace of a sandbox. */
  readonly turns: KeyedLock;
  /** Packs the workspace of a running sandbox; a failure leaves nothing. */
  make(use: Pick<Use, 'record' | 'sandbox'>, call: Call): Promise<Backup>;
  /** The tar in it. Whoever reads it must read it to its end or destroy it. */
  read(id: string): Readable;
  /** @returns whether there was one. */
  remove(id: string): Promise<boolean>;
}

/** Opens the folder, and removes from it what a former run has not finished. */
export async function openBackups({
  db,
  folder,
  having,
  now,
}: Pick<Daemon, 'db' | 'folder' | 'having' | 'now'>): Promise<Backups> {
  const rows = backupRows(db);
  const place = join(folder, 'backups');
  const fileOf = (id: string) => join(place, `${id}.tar.gz`);
  await mkdir(place, { recursive: true, mode: 0o700 });
  for (const name of await readdir(place))
    if (rows.get(name.replace(/\.tar\.gz$/, '')) === undefined) await rm(join(place, name), { force: true });

  const turns = keyedLock();

  const make: Backups['make'] = async ({ record, sandbox }, call) => {
    const backupId = `bk${randomHex(8)}`;
    const part = `${fileOf(backupId)}.part`;
    try {
      const bytes = await pack(await contentsOf(sandbox, having, call), part, call);
      await rename(part, fileOf(backupId));
      await settle(place);
      const backup = { backupId, sandboxId: record.id, createdAt: now().toISOString(), bytes };
      rows.add(backup);
      return backup;
    } catch (error) {
      await rm(part, { force: true });
      throw error instanceof SbxError ? error : failed(error, part, call);
    }
  };

  return {
    turns,
    list: rows.list,
    get: rows.get,
    make: (use, call) => turns.run(use.record.id, () => make(use, call)),
    read: (id) => {
      const tar = createGunzip();
      // One that breaks before anybody reads it is no crash: whoever reads it hears of it.
      tar.on('error', () => undefined);
      // The reader of the tar hears of what is wrong with the file, too.
      pipeline(createReadStream(fileOf(id)), tar).catch((error: unknown) => tar.destroy(error as Error));
      return tar;
    },
    async remove(id) {
      if (!rows.remove(id)) return false;
      await rm(fileOf(id), { force: true });
      return true;
    },
  };
}

function contentsOf(sandbox: Sandbox, having: Daemon['having'], call: Call): Promise<Readable> {
  return need(sandbox, 'archive', having).read(WORKSPACE, { contents: true, steady: true }, call);
}

/** Writes a stream to a new file, packed, down to the disk. @returns the size of the file. */
async function pack(tar: Readable, path: string, { signal }: Call): Promise<number> {
  const file = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
  await pipeline(tar, createGzip({ level: 1 }), file, { signal });
  return file.bytesWritten;
}

/** Makes sure that the names in a folder are on the disk. */
async function settle(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function failed(error: unknown, path: string, { signal }: Call): SbxError {
  if (signal.aborted) return new SbxError('interrupted', 'the backup was called off', { cause: error });
  return fileError('cannot write', path, error);
}
