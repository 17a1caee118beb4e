/**
 * The records of sandboxes. A row without a status, or with `making`, stands for one that is being made, or for the new
 * name of one that is being renamed.
 */
import type { SandboxRecord } from '../record.ts';
import type { Database } from './database.ts';

export interface SandboxRows {
  /** Those that are made, the oldest first. */
  list(): SandboxRecord[];
  /** By id or name; one that is being furnished by its id alone, which its maker knows. */
  find(ref: string): SandboxRecord | undefined;
  /** Takes id and name before the sandbox is made. @returns false when the name is taken. */
  reserve(row: Reserved): boolean;
  /** Writes the whole record of a reserved or known one. */
  put(record: SandboxRecord): void;
  /** Changes a few fields; nothing when it is gone. */
  change(id: string, fields: Partial<SandboxRecord>): SandboxRecord | undefined;
  /** Gives the name that a row holds to the sandbox that is renamed, unless that is gone. The row goes. */
  rename(held: HeldName): SandboxRecord | undefined;
  /** Those whose making, or renaming, was cut off. */
  reserved(): Reserved[];
  remove(id: string): void;
}

export interface Reserved {
  readonly id: string;
  readonly name: string;
  readonly driver: string;
  /** The sandbox whose next name it holds. */
  readonly renames?: string;
}

export type HeldName = Reserved & Required<Pick<Reserved, 'renames'>>;

export function sandboxRows(db: Database): SandboxRows {
  const parse = (row: unknown) => JSON.parse((row as { record: string }).record) as SandboxRecord;
  const isMade = ({ status, making }: Partial<SandboxRecord>) => status !== undefined && making !== true;
  const all = () => db.prepare('SELECT record FROM sandbox ORDER BY made, rowid').all().map(parse);
  const rows: SandboxRows = {
    list: () => all().filter(isMade),
    find(ref) {
      const row = db
        .prepare('SELECT record FROM sandbox WHERE id = ? OR name = ? ORDER BY id = ? DESC')
        .get(ref, ref, ref);
      const record = row === undefined ? undefined : parse(row);
      if (record === undefined || isMade(record)) return record;
      return record.making === true && record.id === ref ? record : undefined;
    },
    reserve(row) {
      const { changes } = db
        .prepare('INSERT OR IGNORE INTO sandbox (id, name, made, record) VALUES (?, ?, ?, ?)')
        .run(row.id, row.name, Date.now(), JSON.stringify(row));
      return changes === 1;
    },
    put(record) {
      db.prepare('UPDATE sandbox SET name = ?, record = ? WHERE id = ?').run(
        record.name,
        JSON.stringify(record),
        record.id,
      );
    },
    change(id, fields) {
      const record = rows.find(id);
      if (record === undefined) return undefined;
      const changed = { ...record, ...fields };
      rows.put(changed);
      return changed;
    },
    rename: ({ id, name, renames }) =>
      db.transaction(() => {
        rows.remove(id);
        return rows.change(renames, { name });
      }),
    reserved: () => all().filter((each) => !isMade(each)) as unknown as Reserved[],
    remove(id) {
      db.prepare('DELETE FROM sandbox WHERE id = ?').run(id);
    },
  };
  return rows;
}
