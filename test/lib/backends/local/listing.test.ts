import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeInit } from '../../../../src/lib/backends/local/init-process.ts';
import { type Layout, layoutAt, sandboxLayout } from '../../../../src/lib/backends/local/layout.ts';
import { openListing } from '../../../../src/lib/backends/local/listing.ts';
import { type SandboxRecord, writeRecord } from '../../../../src/lib/backends/local/record.ts';
import { SbxError } from '../../../../src/lib/errors.ts';

const COUNT = 60;
const LATER = 10_000;

let root: string;
let layout: Layout;
let ids: string[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sbx-listing-'));
  layout = layoutAt(root);
  ids = Array.from({ length: COUNT }, (_, n) => n.toString(16).padStart(12, '0'));
  for (const id of ids) {
    mkdirSync(sandboxLayout(layout, id).folder, { recursive: true });
    writeRecord(sandboxLayout(layout, id).record, record(id));
  }
});
afterEach(() => rmSync(root, { recursive: true }));

const index = () => join(root, 'listing.json');
const filesOf = (at: number) => sandboxLayout(layout, ids[at] ?? '');
const init = { pid: 4711, startTicks: '1', bootId: 'b', startedAt: '2026-01-01T00:00:00.000Z' } as const;
const running = { base: 'b', keepsGroups: false, emptyParts: [], cgroups: [], helpers: [] } as const;

/** What a look says of each sandbox, and that it says the same without the file. */
async function look(now = Date.now() + LATER) {
  const listing = openListing(layout, ids, () => now);
  const seen = ids.map((id) => said(listing.read(id)));
  await listing.save();
  const without = openListing(layout, []);
  expect(seen).toEqual(ids.map((id) => said(without.read(id))));
  return seen;
}

function said({ record, init }: ReturnType<ReturnType<typeof openListing>['read']>) {
  return {
    name: record instanceof SbxError ? record.message : record?.name,
    pid: init instanceof SbxError ? init.message : init?.pid,
  };
}

describe('the listing', () => {
  test('is used: what it says of files that are the same comes from it', async () => {
    await look();
    const text = readFileSync(index(), 'utf8');
    writeFileSync(index(), text.replace('"box-000000000007"', '"from the listing"'));
    expect(said(openListing(layout, ids).read(ids[7] ?? '')).name).toBe('from the listing');
    expect(said(openListing(layout, ids.slice(0, 49)).read(ids[7] ?? '')).name).toBe('box-000000000007');
  });

  test('sees each change of a sandbox', async () => {
    await look();
    writeRecord(filesOf(0).record, { ...record(ids[0] ?? ''), name: 'renamed' });
    expect((await look())[0]?.name).toBe('renamed');
    writeInit(filesOf(1).init, { ...init, ...running, network: 'none', paused: false });
    expect((await look())[1]?.pid).toBe(4711);
    writeInit(filesOf(1).init, { ...init, ...running, pid: 4712, network: 'none', paused: false });
    expect((await look())[1]?.pid).toBe(4712);
    rmSync(filesOf(1).init);
    expect((await look())[1]?.pid).toBeUndefined();
    rmSync(filesOf(2).folder, { recursive: true });
    expect((await look())[2]?.name).toBeUndefined();
    expect(readFileSync(index(), 'utf8')).not.toContain('box-000000000002');
  });

  test('reports broken files each time and keeps nothing of them', async () => {
    writeFileSync(filesOf(4).record, '{gar');
    writeFileSync(filesOf(5).init, '{gar');
    for (let times = 0; times < 2; times++) {
      const seen = await look();
      expect(seen[4]?.name).toContain(filesOf(4).record);
      expect(seen[5]?.pid).toContain(filesOf(5).init);
    }
    expect(Object.keys(entries())).toHaveLength(COUNT - 2);
  });

  test('keeps nothing of files that have just changed', async () => {
    await look(Date.now());
    expect(existsSync(index())).toBe(false);
  });

  test('holds no environment', async () => {
    writeRecord(filesOf(6).record, { ...record(ids[6] ?? ''), env: { TOKEN: 'secret' } });
    await look();
    expect(readFileSync(index(), 'utf8')).not.toContain('secret');
    expect(statSync(index()).mode & 0o777).toBe(0o600);
  });

  test.each([
    '{gar',
    '',
    'null',
    '[]',
    '{"version":1,"entries":{}}',
    '{"version":2,"entries":null}',
    '{"version":2,"entries":{"000000000000":{}}}',
  ])('is made anew when it is %j', async (text) => {
    writeFileSync(index(), text);
    await look();
    expect(Object.keys(entries())).toHaveLength(COUNT);
  });

  test('is left alone while nothing changes', async () => {
    await look();
    const { ino } = statSync(index());
    await look();
    expect(statSync(index()).ino).toBe(ino);
  });

  test('that cannot be written is done without', async () => {
    mkdirSync(index());
    await look();
  });

  test('is not made for a few sandboxes', async () => {
    ids = ids.slice(0, 49);
    await look();
    expect(existsSync(index())).toBe(false);
  });
});

function entries(): object {
  return (JSON.parse(readFileSync(index(), 'utf8')) as { entries: object }).entries;
}

function record(id: string): SandboxRecord {
  const createdAt = '2026-01-01T00:00:00.000Z';
  const fixed = {
    version: 1,
    phase: 'ready',
    createdAt,
    workdir: '/workspace',
    isolation: 'namespaces',
  } as const;
  const name = `box-${id}`;
  return { ...fixed, id, name, hostname: name, labels: {}, env: {}, limits: {}, layers: {}, base: {} };
}
