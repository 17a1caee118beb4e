/** Small things that belong to a sandbox and go with it, by kind and key: exec sessions, exposed ports, code contexts. */
import type { Database } from './database.ts';

/** The things of one kind. */
export interface Items<T> {
  /** In the order in which they were first put. */
  list(sandbox: string): T[];
  get(sandbox: string, key: string): T | undefined;
  /** @returns false when there is one of this key already. */
  add(sandbox: string, key: string, value: T): boolean;
  put(sandbox: string, key: string, value: T): void;
  /** @returns whether there was one. */
  remove(sandbox: string, key: string): boolean;
  clear(sandbox: string): void;
}

export function items<T>(db: Database, kind: string): Items<T> {
  const parse = (row: unknown) => JSON.parse((row as { value: string }).value) as T;
  return {
    list: (sandbox) =>
      db
        .prepare('SELECT value FROM item WHERE sandbox = ? AND kind = ? ORDER BY number')
        .all(sandbox, kind)
        .map(parse),
    get(sandbox, key) {
      const row = db
        .prepare('SELECT value FROM item WHERE sandbox = ? AND kind = ? AND key = ?')
        .get(sandbox, kind, key);
      return row === undefined ? undefined : parse(row);
    },
    add: (sandbox, key, value) =>
      db
        .prepare('INSERT OR IGNORE INTO item (sandbox, kind, key, value) VALUES (?, ?, ?, ?)')
        .run(sandbox, kind, key, JSON.stringify(value)).changes === 1,
    put(sandbox, key, value) {
      db.prepare(
        'INSERT INTO item (sandbox, kind, key, value) VALUES (?, ?, ?, ?) ON CONFLICT (sandbox, kind, key) DO UPDATE SET value = excluded.value',
      ).run(sandbox, kind, key, JSON.stringify(value));
    },
    remove: (sandbox, key) =>
      db.prepare('DELETE FROM item WHERE sandbox = ? AND kind = ? AND key = ?').run(sandbox, kind, key)
        .changes > 0,
    clear(sandbox) {
      db.prepare('DELETE FROM item WHERE sandbox = ? AND kind = ?').run(sandbox, kind);
    },
  };
}
