/** The records of backups; they outlive their sandboxes. */
import type { Database } from './database.ts';

/** A backup, as the API tells it. */
export interface Backup {
  readonly backupId: string;
  readonly sandboxId: string;
  readonly createdAt: string;
  /** Of the packed tar. */
  readonly bytes: number;
}

export interface BackupRows {
  /** The oldest first; of one sandbox, or of all. */
  list(sandbox?: string): Backup[];
  get(id: string): Backup | undefined;
  add(backup: Backup): void;
  /** @returns whether there was one. */
  remove(id: string): boolean;
}

const FIELDS = 'id AS backupId, sandbox AS sandboxId, made AS createdAt, bytes';

export function backupRows(db: Database): BackupRows {
  // Rows come without a prototype, which comparisons would take for a difference.
  const backup = (row: unknown): Backup => ({ ...(row as Backup) });
  return {
    list: (sandbox) =>
      db
        .prepare(`SELECT ${FIELDS} FROM backup WHERE ?1 IS NULL OR sandbox = ?1 ORDER BY number`)
        .all(sandbox ?? null)
        .map(backup),
    get(id) {
      const row = db.prepare(`SELECT ${FIELDS} FROM backup WHERE id = ?`).get(id);
      return row === undefined ? undefined : backup(row);
    },
    add({ backupId, sandboxId, createdAt, bytes }) {
      db.prepare('INSERT INTO backup (id, sandbox, made, bytes) VALUES (?, ?, ?, ?)').run(
        backupId,
        sandboxId,
        createdAt,
        bytes,
      );
    },
    remove: (id) => db.prepare('DELETE FROM backup WHERE id = ?').run(id).changes > 0,
  };
}
