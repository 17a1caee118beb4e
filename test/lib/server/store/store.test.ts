import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { noUsage, type SandboxRecord } from '../../../../src/lib/server/record.ts';
import { backupRows } from '../../../../src/lib/server/store/backups.ts';
import { type Database, openDatabase } from '../../../../src/lib/server/store/database.ts';
import { items } from '../../../../src/lib/server/store/items.ts';
import { sandboxRows } from '../../../../src/lib/server/store/sandboxes.ts';

const folder = mkdtempSync(join(tmpdir(), 'sbx-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const place = () => join(folder, String(count++));

function using<T>(at: string, act: (db: Database) => T): T {
  const db = openDatabase(at);
  try {
    return act(db);
  } finally {
    db.close();
  }
}

const record = (id: string, name = id) => ({ id, name, status: 'running', usage: noUsage }) as SandboxRecord;

function add(db: Database, id: string, name = id): void {
  const rows = sandboxRows(db);
  expect(rows.reserve({ id, name, driver: 'local' })).toBe(true);
  rows.put(record(id, name));
}

test('killed at any moment, a writer has lost nothing that it has answered for, and left nothing half', async () => {
  const program = fileURLToPath(new URL('writer.fixture.ts', import.meta.url));
  for (const after of [1, 50, 171, 400]) {
    const at = place();
    const writer = spawn(process.execPath, [program, at], { stdio: ['ignore', 'pipe', 'inherit'] });
    const said: string[] = [];
    for await (const line of createInterface(writer.stdout)) {
      said.push(line);
      if (said.length === after) writer.kill('SIGKILL');
    }
    if (writer.exitCode === null && writer.signalCode === null) await once(writer, 'exit');
    expect(said.length).toBeGreaterThanOrEqual(after);
    using(at, (db) => {
      const rows = sandboxRows(db);
      const things = items<number>(db, 'thing');
      for (const line of said) {
        const [what, number] = line.split(' ');
        const found = rows.find(`sb${number}`);
        expect(found?.status, line).toBe('running');
        if (what === 'item') expect(things.get(`sb${number}`, 'a'), line).toBe(Number(number));
        if (what === 'both') expect(things.get(`sb${number}`, 'b'), line).toBe(Number(number));
      }
      for (const { id, labels } of rows.list())
        expect(labels.number === undefined, id).toBe(things.get(id, 'b') === undefined);
    });
  }
});

test('a row is found by id before name, and one that is only reserved is not', () =>
  using(place(), (db) => {
    const rows = sandboxRows(db);
    add(db, 'one', 'name');
    expect(rows.reserve({ id: 'two', name: 'name', driver: 'local' })).toBe(false);
    expect(rows.reserve({ id: 'two', name: 'one', driver: 'local' })).toBe(true);
    expect(rows.find('name')?.id).toBe('one');
    expect(rows.find('one')?.id).toBe('one');
    expect(rows.find('two')).toBeUndefined();
    expect(rows.reserved()).toEqual([{ id: 'two', name: 'one', driver: 'local' }]);
    expect(rows.list().map(({ id }) => id)).toEqual(['one']);
    rows.put(record('two', 'other'));
    expect(rows.list().map(({ id }) => id)).toEqual(['one', 'two']);
    expect(rows.change('three', { status: 'stopped' })).toBeUndefined();
  }));

test('items keep their order, and go with their sandbox', () =>
  using(place(), (db) => {
    const things = items<string>(db, 'thing');
    const others = items<string>(db, 'other');
    add(db, 'one');
    expect(things.add('one', 'b', 'first')).toBe(true);
    expect(things.add('one', 'b', 'again')).toBe(false);
    things.put('one', 'a', 'second');
    things.put('one', 'b', 'changed');
    others.put('one', 'b', 'of another kind');
    expect(things.list('one')).toEqual(['changed', 'second']);
    expect(things.remove('one', 'x')).toBe(false);
    sandboxRows(db).remove('one');
    expect([things.list('one'), others.list('one')]).toEqual([[], []]);
    expect(() => things.put('one', 'a', 'x')).toThrow(/FOREIGN KEY/);
  }));

test('backups outlive their sandbox', () =>
  using(place(), (db) => {
    const backups = backupRows(db);
    add(db, 'one');
    const backup = { backupId: 'b1', sandboxId: 'one', createdAt: '2026-01-01T00:00:00.000Z', bytes: 5 };
    backups.add(backup);
    backups.add({ ...backup, backupId: 'b0', sandboxId: 'two' });
    sandboxRows(db).remove('one');
    expect(backups.get('b1')).toStrictEqual(backup);
    expect(backups.list().map(({ backupId }) => backupId)).toEqual(['b1', 'b0']);
    expect(backups.list('two').map(({ backupId }) => backupId)).toEqual(['b0']);
    expect([backups.remove('b1'), backups.remove('b1'), backups.get('b1')]).toEqual([true, false, undefined]);
  }));

test('what fails in a transaction leaves nothing of it', () =>
  using(place(), (db) => {
    expect(() =>
      db.transaction(() => {
        add(db, 'one');
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(sandboxRows(db).list()).toEqual([]);
    add(db, 'one');
  }));

test('a file of an older form is brought to the present one, of a newer one is left alone', () => {
  const at = place();
  using(at, (db) => add(db, 'one'));
  const change = (sql: string) => {
    const db = new DatabaseSync(`${at}/serve.db`);
    db.exec(sql);
    db.close();
  };
  change('DROP TABLE backup; DROP TABLE snapshot; PRAGMA user_version = 1');
  using(at, (db) => {
    expect(backupRows(db).list()).toEqual([]);
    expect(sandboxRows(db).list()).toHaveLength(1);
  });
  change('PRAGMA user_version = 999');
  expect(() => openDatabase(at)).toThrow('was written by a newer sbx');
});

test('a file that is no database is told by its path', () => {
  const at = place();
  using(at, () => undefined);
  const db = join(at, 'serve.db');
  rmSync(db);
  rmSync(`${db}-wal`, { force: true });
  writeFileSync(db, 'this is text, and no database'.repeat(100));
  expect(() => openDatabase(at)).toThrow(`cannot open ${db}`);
});
