import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Layout, layoutAt } from '../../../../src/lib/backends/local/layout.ts';
import { resolverFor } from '../../../../src/lib/backends/local/network.ts';
import { ensureLayout, findId, releaseName, takeName } from '../../../../src/lib/backends/local/store.ts';

const ONE = 'aaaaaaaaaaaa';
const TWO = 'bbbbbbbbbbbb';
const call = { signal: new AbortController().signal };
let layout: Layout;
beforeEach(() => {
  layout = layoutAt(join(mkdtempSync(join(tmpdir(), 'sbx-store-')), 'local'));
  ensureLayout(layout);
  for (const id of [ONE, TWO]) mkdirSync(join(layout.sandboxes, id));
});
afterEach(() => rmSync(join(layout.root, '..'), { recursive: true }));

test('a name is taken once, and free again when it is given up', async () => {
  await takeName(layout, 'box', ONE, call, 'local');
  await expect(takeName(layout, 'box', TWO, call, 'local')).rejects.toThrow(
    /there is a sandbox 'box' already/,
  );
  releaseName(layout, 'box', TWO);
  expect(findId(layout, 'box')).toBe(ONE);
  releaseName(layout, 'box', ONE);
  await takeName(layout, 'box', TWO, call, 'local');
  expect(findId(layout, 'box')).toBe(TWO);
});

test('a name whose sandbox is gone is free', async () => {
  await takeName(layout, 'box', 'cccccccccccc', call, 'local');
  await takeName(layout, 'box', ONE, call, 'local');
  expect(findId(layout, 'box')).toBe(ONE);
});

test('a link that does not name an id, and a name that is a path, are nobody', () => {
  symlinkSync('../../../../etc', join(layout.names, 'evil'));
  writeFileSync(join(layout.names, 'file'), '');
  for (const name of ['evil', 'file', '../sandboxes', '.', '..', '', `../sandboxes/${ONE}`])
    expect(findId(layout, name)).toBeUndefined();
});

test('an id is found by itself and by a beginning that is its alone', () => {
  expect(findId(layout, ONE)).toBe(ONE);
  expect(findId(layout, 'aaaa')).toBe(ONE);
  expect(findId(layout, 'aaa')).toBeUndefined();
  mkdirSync(join(layout.sandboxes, 'aaaaaaaaaaab'));
  expect(findId(layout, 'aaaa')).toBeUndefined();
});

test('with a private network no resolver is on the loopback of this machine', () => {
  for (const tool of ['pasta', 'slirp4netns'] as const) {
    const servers = [...resolverFor({ mode: 'private', tool }).matchAll(/^nameserver (\S+)/gm)].map(
      ([, server]) => server,
    );
    expect(servers.length).toBeGreaterThan(0);
    expect(servers.every((server) => server?.startsWith('127.'))).toBe(false);
  }
});
