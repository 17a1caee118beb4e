import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { overlayable } from '../../../../src/lib/backends/local/host-folders.ts';
import { layoutAt } from '../../../../src/lib/backends/local/layout.ts';
import { mountSteps, overlayOptions } from '../../../../src/lib/backends/local/mounts.ts';
import type { SandboxRecord } from '../../../../src/lib/backends/local/record.ts';
import { requireOrSkip } from '../../../support/require.ts';

const onLinux = requireOrSkip(process.platform === 'linux', 'Linux');

const record = (changes: Partial<SandboxRecord> = {}): SandboxRecord => ({
  version: 1,
  id: 'abcdefabcdef',
  name: 'box',
  phase: 'ready',
  createdAt: '2026-01-01T00:00:00.000Z',
  labels: {},
  env: {},
  workdir: '/',
  hostname: 'box',
  limits: {},
  isolation: 'namespaces',
  layers: {},
  base: {},
  ...changes,
});

onLinux('signs that part fields and options are escaped, whatever the state folder is called', () => {
  const root = '/tmp/a b\\c,d:e#f/local';
  const rootfs = '/srv/x:y,z';
  const [first, , third] = mountSteps(layoutAt(root), record({ rootfs }), 'base1', `${root}.mount`);
  expect(first?.fstab).toContain('lowerdir=../base/base1/rootfs:/srv/x\\134:y\\134,z,upperdir=');
  for (const line of third?.fstab.trim().split('\n') ?? []) expect(line.split(' ')).toHaveLength(6);
  expect(third?.fstab).toContain('/tmp/a\\040b\\134c,d:e\\043f/local.mount/.sbx/state');
});

onLinux('too many layers for one mount are refused', () => {
  const layers = { usr: Array.from({ length: 600 }, (_, index) => `layer${index}`) };
  expect(() => overlayOptions(record({ layers }), { name: 'usr', path: '/usr', host: '/usr' }, 'b')).toThrow(
    /too many layers/,
  );
});

onLinux('the cover comes after what it covers, and the tools are read-only', () => {
  const steps = mountSteps(layoutAt('/state/local'), record(), 'b', '/state/local.mount');
  const lines = steps[2]?.fstab.trim().split('\n') ?? [];
  const at = (start: string) => lines.findIndex((line) => line.startsWith(start));
  expect(at('cover ')).toBeGreaterThan(at('/state/local /state/local.mount/.sbx/state '));
  const tools = lines.filter((line) => line.includes('/.sbx-tools'));
  expect(tools.length).toBeGreaterThan(1);
  for (const line of tools)
    expect(line).toMatch(/ (none [^ ]*\bro\b[^ ]*|overlay (?![^ ]*upperdir)[^ ]*) 0 0$/);
});

onLinux('no part shows a folder that the state lies in', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sbx-parts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'real/local'), { recursive: true });
  symlinkSync(join(folder, 'real'), join(folder, 'link'));
  const layout = layoutAt(join(folder, 'link/local'));
  const part = { path: '/var', host: join(folder, 'real') };
  expect(overlayable(layout, [{ name: 'var', ...part }])).toEqual([{ name: 'var', path: '/var' }]);
  expect(() => overlayable(layout, [{ name: 'usr', ...part }])).toThrow(/the state folder .* lies in/);
});
