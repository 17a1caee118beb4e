/** The records of snapshots; they outlive their sandboxes. Only what has a row here is the server's. */
import type { SnapshotInfo } from '../../backend/contract.ts';
import type { Database } from './database.ts';

export interface Snapshot extends SnapshotInfo {
  /** The configured backend that it is on, by its id as its name. */
  readonly driver: string;
  /** What a sandbox made from it is like. */
  readonly image: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Variables that it has besides, which were its source's alone. */
  readonly withheld: readonly string[];
  /** It is being taken: nobody else sees it, and without its maker it goes. */
  readonly making?: true;
}

export interface SnapshotRows {
  /** Those that are whole, the oldest first. */
  list(): Snapshot[];
  /** Those whose making was cut off. */
  unfinished(): Snapshot[];
  /** Takes id and name. @returns false when the name is taken. */
  add(snapshot: Snapshot): boolean;
  put(snapshot: Snapshot): void;
  remove(id: string): void;
}

export function snapshotRows(db: Database): SnapshotRows {
  const all = () =>
    db
      .prepare('SELECT record FROM snapshot ORDER BY number')
      .all()
      .map((row) => JSON.parse((row as { record: string }).record) as Snapshot);
  return {
    list: () => all().filter(({ making }) => making !== true),
    unfinished: () => all().filter(({ making }) => making === true),
    add: (snapshot) =>
      db
        .prepare('INSERT OR IGNORE INTO snapshot (id, name, record) VALUES (?, ?, ?)')
        .run(snapshot.id, snapshot.name ?? null, JSON.stringify(snapshot)).changes === 1,
    put(snapshot) {
      db.prepare('UPDATE snapshot SET record = ? WHERE id = ?').run(JSON.stringify(snapshot), snapshot.id);
    },
    remove(id) {
      db.prepare('DELETE FROM snapshot WHERE id = ?').run(id);
    },
  };
}
