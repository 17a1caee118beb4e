/** What a sandbox was asked to be, it is: on Docker and on Podman, which takes less and tells more than it is given. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { type EngineClient, engineClient } from '../support/engines/client.ts';
import { engineHost, onEngine } from '../support/engines/shared.ts';

let folder: string;
let name: string;
let client: EngineClient;
beforeEach(() => {
  if (engineHost === undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'sbx-settings-'));
  name = `settings-${folder.slice(-6)}`;
  client = engineClient(folder, engineHost);
});
afterEach(() => {
  if (engineHost === undefined) return;
  client.must('rm', '--force', name);
  rmSync(folder, { recursive: true });
});

const create = (...more: string[]) => client.run('create', name, '--image', 'sbx-test/busybox', ...more);

onEngine('a runtime that the engine does not have is not ignored, and nothing is left', () => {
  const { code, stderr } = create('--runtime', 'no-such-runtime');
  expect(code).not.toBe(0);
  expect(stderr).toContain('no-such-runtime');
  expect(client.run('info', name).code).toBe(3);
});

onEngine('a restored sandbox has the limits, the user and the variables that it was made with', () => {
  const limits = ['--memory', '64m', '--pids', '50'];
  expect(create('--user', 'nobody', '--env', 'A=1', ...limits).code).toBe(0);
  const settings = 'id -u; echo "$HOME $A"; cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max; :';
  const look = () => client.must('exec', name, '--', 'sh', '-c', `{ ${settings}; } 2>/dev/null`);
  const before = look();
  expect(before).toMatch(/^65534\n\S+ 1\n50\n$/);
  client.must('snapshot', 'create', name, '--name', name);
  client.must('snapshot', 'restore', name, name, '--yes');
  expect(look()).toBe(before);
  client.must('rm', '--force', name);
  client.must('snapshot', 'rm', name, '--yes');
});
