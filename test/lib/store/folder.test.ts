import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { ensureFolder } from '../../../src/lib/store/folder.ts';

const root = mkdtempSync(join(tmpdir(), 'sbx-folder-'));
afterEach(() => rmSync(join(root, 'a'), { recursive: true, force: true }));
afterAll(() => rmSync(root, { recursive: true }));

test('makes the folder and those above it for us alone, and again without an error', () => {
  const path = join(root, 'a', 'b', 'c');
  ensureFolder(path);
  ensureFolder(path);
  for (const each of [join(root, 'a'), path]) expect(statSync(each).mode & 0o777).toBe(0o700);
});

test('a file in the way is named', () => {
  writeFileSync(join(root, 'a'), '');
  expect(() => ensureFolder(join(root, 'a'))).toThrow(/cannot make the folder .*\/a: /);
  expect(() => ensureFolder(join(root, 'a', 'b'))).toThrow(/cannot make the folder .*\/a\/b: /);
});

test('a HOME that takes no folders, as /proc, is an error and no endless loop', () => {
  expect(() => ensureFolder('/proc/.local/state/sbx')).toThrow(
    'cannot make the folder /proc/.local/state/sbx',
  );
});
