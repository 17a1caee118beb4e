/** Backups of `sbx serve`, killed with -9 in the middle: nothing is half there afterwards. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect } from 'vitest';
import { type BuiltServer, bin, builtServer } from '../support/built-server.ts';
import { requireOrSkip } from '../support/require.ts';

const folder = mkdtempSync(join(tmpdir(), 'sbx-backups-'));
const test = requireOrSkip(existsSync(join(bin, '../../dist/run.js')), 'a built sbx');
const started: BuiltServer[] = [];
const state = join(folder, 'state');
const start = async () => {
  const server = await builtServer(state);
  started.push(server);
  return server;
};

afterEach(async () => {
  for (const server of started.splice(0)) {
    server.kill('SIGKILL');
    await server.ended;
  }
});

afterAll(() => {
  execFileSync(process.execPath, [bin, 'rm', '--all', '--force', '--yes'], {
    env: { ...process.env, SBX_STATE_DIR: state, SBX_CONFIG_DIR: `${state}/config` },
    stdio: 'ignore',
  });
  rmSync(folder, { recursive: true, force: true });
});

async function answer<T>(asked: Promise<Response>, status: number): Promise<T> {
  const response = await asked;
  const text = await response.text();
  expect(response.status, text).toBe(status);
  return JSON.parse(text) as T;
}

/** What a command prints. */
async function say(server: BuiltServer, id: string, command: string): Promise<string> {
  const response = await server.ask('POST', `/sandboxes/${id}/exec`, { command });
  const events = (await response.text()).split('\n\n').filter(Boolean);
  return events
    .map((event) => JSON.parse(event.slice('data: '.length)) as { type: string; data: string })
    .flatMap(({ type, data }) => (type === 'stdout' ? [data] : []))
    .join('');
}

interface Made {
  readonly id: string;
}

interface Backup {
  readonly backupId: string;
}

test('killed while it makes a backup, leaves none, and no file of it', async () => {
  const first = await start();
  const { id } = await answer<Made>(first.ask('POST', '/sandboxes'), 201);
  // Takes long to read, and no room.
  await say(first, id, 'truncate -s 64G large');
  const place = join(state, 'serve/backups');
  const watcher = watch(place);
  const making = first.ask('POST', `/sandboxes/${id}/backups`).catch(() => undefined);
  await once(watcher, 'change');
  watcher.close();
  first.kill('SIGKILL');
  await Promise.all([first.ended, making]);
  expect(readdirSync(place)).not.toEqual([]);
  const second = await start();
  expect(readdirSync(place)).toEqual([]);
  expect(await answer(second.ask('GET', '/backups'), 200)).toEqual({ backups: [] });
  // What packed it is gone, and another one works.
  await expect.poll(() => say(second, id, 'pgrep tar; rm -f large')).toBe('');
  await answer<Backup>(second.ask('POST', `/sandboxes/${id}/backups`), 201);
});

test('killed at any moment of a restore, leaves the workspace as it was or as it shall be', async () => {
  let server = await start();
  const { id } = await answer<Made>(server.ask('POST', '/sandboxes'), 201);
  const fill = (word: string) => `rm -rf *; for n in $(seq 40); do mkdir d$n; echo ${word} > d$n/file; done`;
  const words = 'cat */file | sort -u; ls | wc -l; ls -A | grep -c "^[.]"';
  await say(server, id, fill('old'));
  const { backupId } = await answer<Backup>(server.ask('POST', `/sandboxes/${id}/backups`), 201);
  const local = join(state, 'local');
  const workspace = join(
    local,
    'sandboxes',
    readlinkSync(join(local, 'names', id)).replace(/^.*\//, ''),
    'upper/workspace',
  );
  const seen = new Set<string>();
  // The folder for it is made first; then each of forty is moved away, and each of forty to its place.
  for (const changes of [1, 2, 15, 41, 60, 85]) {
    await say(server, id, fill('new'));
    let count = 0;
    const { promise, resolve } = Promise.withResolvers<void>();
    const watcher = watch(workspace, () => {
      if (++count === changes) resolve();
    });
    const restoring = server.ask('POST', `/sandboxes/${id}/restore`, { backupId }).catch(() => undefined);
    await Promise.race([promise, restoring]);
    server.kill('SIGKILL');
    await Promise.all([server.ended, restoring]);
    watcher.close();
    server = await start();
    const found = await say(server, id, words);
    expect(['old\n40\n0\n', 'new\n40\n0\n'], `after ${changes} changes`).toContain(found);
    seen.add(found.slice(0, 3));
  }
  // The last comes when all is unpacked.
  expect([...seen]).toContain('old');
});
