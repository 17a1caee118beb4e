import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { freezerOf, makeCgroups, removeCgroups } from '../../../../src/lib/backends/local/cgroup.ts';
import { asPlainUser } from '../../../support/require.ts';

let mount: string;
beforeEach(() => {
  mount = mkdtempSync(join(tmpdir(), 'sbx-cgroup-'));
});
afterEach(() => rmSync(mount, { recursive: true, force: true }));

const SELF = '5:memory:/user/me\n4:pids:/\n3:cpu,cpuacct:/\n2:freezer:/\n';

function put(path: string, text = ''): void {
  mkdirSync(dirname(join(mount, path)), { recursive: true });
  writeFileSync(join(mount, path), text);
}

function version1(): void {
  for (const path of ['memory/user/me', 'pids', 'cpu', 'cpuacct', 'freezer'])
    mkdirSync(join(mount, path), { recursive: true });
}

test('version 1: each limit goes into the folder of its controller, below our own', () => {
  version1();
  const made = makeCgroups({ mount, self: SELF }, 'abc', { memory: 1000, pids: 7, cpus: 1.5 });
  expect(made).toContain(join(mount, 'memory/user/me/sbx-abc'));
  const text = (path: string) => readFileSync(join(mount, path), 'utf8');
  expect(text('memory/user/me/sbx-abc/memory.limit_in_bytes')).toBe('1000');
  expect(text('pids/sbx-abc/pids.max')).toBe('7');
  expect(text('cpu/sbx-abc/cpu.cfs_quota_us')).toBe('150000');
});

test('a limit that nothing enforces is refused and leaves no folder', () => {
  mkdirSync(join(mount, 'pids'));
  expect(() => makeCgroups({ mount, self: SELF }, 'abc', { memory: 1000 })).toThrow(
    /--memory cannot be enforced/,
  );
  expect(existsSync(join(mount, 'pids/sbx-abc'))).toBe(false);
});

test('without limits a machine without cgroups is fine', () => {
  expect(makeCgroups({ mount, self: '0::/\n' }, 'abc', {})).toEqual([]);
});

asPlainUser('version 2: a folder that may not be written is refused with what to do', () => {
  put('cgroup.controllers', 'cpu memory pids');
  chmodSync(mount, 0o555);
  try {
    expect(() => makeCgroups({ mount, self: '0::/\n' }, 'abc', { memory: 1000 })).toThrow(
      /--memory cannot be enforced/,
    );
  } finally {
    chmodSync(mount, 0o755);
  }
});

test('the freezer is found in either version', () => {
  put('two/cgroup.freeze', '0');
  put('two/cgroup.events', 'populated 1\nfrozen 1\n');
  put('one/freezer.state', 'FREEZING\n');
  const [two, one] = [freezerOf([join(mount, 'two')]), freezerOf([join(mount, 'one')])];
  expect([two?.freeze, two?.frozen()]).toEqual(['1', true]);
  expect([one?.freeze, one?.frozen()]).toEqual(['FROZEN', false]);
  expect(freezerOf([mount])).toBeUndefined();
});

test('removing tells which folders are still in use', () => {
  mkdirSync(join(mount, 'empty'));
  put('busy/inner', '');
  expect(removeCgroups([join(mount, 'empty'), join(mount, 'busy'), join(mount, 'gone')])).toEqual([
    join(mount, 'busy'),
  ]);
});
