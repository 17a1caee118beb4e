/**
 * The server's state: one SQLite file, written ahead, so that a process that is killed at any moment loses nothing that it
 * has answered for. See docs/adr/0130.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { SbxError } from '../../errors.ts';
import { ensureFolder } from '../../store/folder.ts';

/** The steps from an empty file to the present form; each is run once, in order. Never change one that was released. */
const STEPS: readonly string[] = [
  `CREATE TABLE sandbox (
     id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, made INTEGER NOT NULL, record TEXT NOT NULL
   ) STRICT;
   CREATE TABLE item (
     sandbox TEXT NOT NULL REFERENCES sandbox (id) ON DELETE CASCADE, kind TEXT NOT NULL, key TEXT NOT NULL,
     number INTEGER PRIMARY KEY, value TEXT NOT NULL, UNIQUE (sandbox, kind, key)
   ) STRICT;`,
  // Not of a sandbox's items: backups outlive it.
  `CREATE TABLE backup (
     number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, sandbox TEXT NOT NULL, made TEXT NOT NULL, bytes INTEGER NOT NULL
   ) STRICT;`,
  // Nor these.
  `CREATE TABLE snapshot (
     number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT UNIQUE, record TEXT NOT NULL
   ) STRICT;`,
];

/** An open database. Calls are synchronous and take microseconds. */
export interface Database {
  /** Prepares a statement, once for each text. */
  prepare(sql: string): StatementSync;
  /** All of `act` or nothing. */
  transaction<T>(act: () => T): T;
  close(): void;
}

/** Opens the file, makes it when missing. @throws SbxError `failed`; `unsupported` where Node.js has no SQLite. */
export function openDatabase(folder: string): Database {
  const sqlite = process.getBuiltinModule('node:sqlite') as typeof import('node:sqlite') | undefined;
  if (sqlite === undefined) {
    throw new SbxError(
      'unsupported',
      `sbx serve needs Node.js 22.13 or newer, and this is ${process.versions.node}`,
    );
  }
  ensureFolder(folder);
  const path = `${folder}/serve.db`;
  let db: DatabaseSync;
  try {
    db = new sqlite.DatabaseSync(path, { timeout: 5000 });
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON');
    migrate(db, path);
  } catch (cause) {
    if (cause instanceof SbxError) throw cause;
    throw new SbxError('failed', `cannot open ${path}: ${(cause as Error).message}`, { cause });
  }
  const prepared = new Map<string, StatementSync>();
  return {
    prepare(sql) {
      const known = prepared.get(sql) ?? db.prepare(sql);
      prepared.set(sql, known);
      return known;
    },
    transaction(act) {
      db.exec('BEGIN IMMEDIATE');
      try {
        const result = act();
        db.exec('COMMIT');
        return result;
      } catch (error) {
        db.exec('ROLLBACK');
        throw error;
      }
    },
    close: () => db.close(),
  };
}

function migrate(db: DatabaseSync, path: string): void {
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  if (version > STEPS.length) {
    throw new SbxError('failed', `${path} was written by a newer sbx`, { hint: 'update this sbx' });
  }
  for (const [index, step] of STEPS.entries()) {
    if (index < version) continue;
    db.exec(`BEGIN IMMEDIATE; ${step} PRAGMA user_version = ${index + 1}; COMMIT`);
  }
}
