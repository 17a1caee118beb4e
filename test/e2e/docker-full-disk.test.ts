/** An engine whose disk is full: what does not go says so, and leaves nothing. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { type EngineClient, engineClient } from '../support/engines/client.ts';
import { type Engine, engineNeeds, startEngine } from '../support/engines/engine.ts';
import { asRoot } from '../support/require.ts';

const needs = engineNeeds();
const full = asRoot(needs === undefined, needs ?? '');

let folder: string;
let engine: Engine;
let client: EngineClient;
/** The engine's containers and images, with the box. */
let before: string;

beforeAll(async () => {
  if (needs !== undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'sbx-full-'));
  engine = await startEngine({ work: join(folder, 'engine'), images: ['busybox'], size: '48m' });
  client = engineClient(folder, engine.host);
  client.must('create', 'box', '--image', 'sbx-test/busybox', '--network', 'none');
  before = kept();
  const filled = client.run('exec', 'box', '--', 'dd', 'if=/dev/zero', 'of=/fill', 'bs=64k');
  expect(filled).toMatchObject({ code: 1, stderr: expect.stringContaining('No space left on device') });
}, 180_000);
afterAll(async () => {
  if (needs !== undefined) return;
  await engine[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
}, 60_000);

const kept = () =>
  [
    engine.docker('ps', '--all', '--no-trunc', '--format', '{{.ID}} {{.Names}}'),
    engine.docker('images', '--all', '--quiet'),
  ].join('\n');

function expectFull(...words: readonly string[]): void {
  const { code, stderr } = client.run(...words);
  expect(code, stderr).toBe(1);
  expect(stderr).toMatch(/^error: .*no space left on device$/im);
  expect(stderr).toMatch(/^hint: .*sbx prune/m);
  expect(kept()).toBe(before);
}

full('create fails and leaves no container', () =>
  expectFull('create', 'other', '--image', 'sbx-test/busybox', '--network', 'none'),
);

full('cp fails and leaves nothing half-way', () => {
  const file = join(folder, 'file');
  writeFileSync(file, Buffer.alloc(1_000_000));
  expectFull('cp', file, 'box:/root/file');
  expect(client.must('exec', 'box', '--', 'ls', '-A', '/root')).toBe('');
});

full('snapshot create and fork fail and leave no image', () => {
  expectFull('snapshot', 'create', 'box');
  expectFull('fork', 'box', 'copy');
});

full('env set fails and changes nothing', () => {
  expectFull('env', 'set', 'box', 'COLOUR=blue');
  expect(client.must('env', 'ls', 'box')).not.toContain('COLOUR');
});

full('exec goes on, and what was written can be removed', () => {
  expect(client.must('exec', 'box', '--', 'rm', '/fill')).toBe('');
  client.must('create', 'other', '--image', 'sbx-test/busybox', '--network', 'none');
});
