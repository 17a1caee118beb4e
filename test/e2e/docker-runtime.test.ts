/** `--runtime` on a real engine. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { type EngineClient, engineClient } from '../support/engines/client.ts';
import { engineHost, onEngine } from '../support/engines/shared.ts';
import { asRoot } from '../support/require.ts';

const docker = (...args: string[]) =>
  execFileSync('docker', ['--host', engineHost ?? '', ...args], { encoding: 'utf8', stdio: 'pipe' });
const hasRunsc =
  engineHost !== undefined && docker('info', '--format', '{{json .Runtimes}}').includes('"runsc"');
const underRunsc = asRoot(hasRunsc, 'an engine with the runtime runsc');
const IMAGE = ['--image', 'sbx-test/busybox', '--network', 'none'];

let folder: string;
let client: EngineClient;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-runtime-'));
  if (engineHost !== undefined) client = engineClient(folder, engineHost);
});
afterEach(() => {
  if (engineHost !== undefined) client.run('rm', '--force', '--yes', 'guarded', 'copy');
});
afterAll(() => rmSync(folder, { recursive: true }));

underRunsc('a fork and a restored one run under the runtime of the first', () => {
  client.must('create', 'guarded', ...IMAGE, '--runtime', 'runsc');
  client.must('fork', 'guarded', 'copy');
  const snapshot = client.must('snapshot', 'create', 'guarded').trim();
  client.must('snapshot', 'restore', 'guarded', snapshot, '--yes');
  for (const name of ['guarded', 'copy']) {
    expect(docker('inspect', '--format', '{{.HostConfig.Runtime}}', name).trim()).toBe('runsc');
    expect(client.must('exec', name, '--', 'cat', '/proc/version')).toContain('4.4.0');
  }
});

underRunsc('a limit that gVisor would break at is refused', () => {
  const { code, stderr } = client.run('create', 'guarded', ...IMAGE, '--runtime', 'runsc', '--pids', '50');
  expect(code, stderr).toBe(5);
  expect(stderr).toMatch(/runsc cannot keep --pids/);
  expect(docker('ps', '--all', '--format', '{{.Names}}')).not.toContain('guarded');
});

onEngine('a runtime that the engine does not have is an error that names it', () => {
  const { code, stderr } = client.run('create', 'guarded', ...IMAGE, '--runtime', 'no-such');
  expect(code, stderr).toBe(1);
  expect(stderr).toMatch(/no-such/);
});
