/** `--isolation none`: what only a sandbox without walls does. What it shares with others is in the conformance suite. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { countOnThisMachine, uniqueSleep } from '../conformance/harness.ts';
import { bin, type Client, clientAt, entries, idsIn, list, must, sbx } from '../support/crash.ts';
import { requireOrSkip } from '../support/require.ts';

let home: string;
let client: Client;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'sbx-no-walls-'));
  client = clientAt(home);
});
afterEach(async () => {
  if (idsIn(client).length > 0) sbx(client, 'rm', '--all', '--force', '--yes');
  await rm(home, { recursive: true, force: true });
});

const WITHOUT = ['--isolation', 'none'];
const create = (...args: string[]) => must(client, 'create', 'box', ...WITHOUT, ...args);
const folder = () => join(client.root, 'sandboxes', idsIn(client)[0] ?? '');
const count = (seconds: string) => expect.poll(() => countOnThisMachine(seconds), { timeout: 10_000 });

/** Starts two processes that sleep for `seconds`, one of them with an empty environment; resolves when both are there. */
async function startSleepers(seconds: string): Promise<void> {
  must(client, 'exec', '-d', 'box', '--', 'sh', '-c', `env -i sleep ${seconds} & exec sleep ${seconds}`);
  await count(seconds).toBe(2);
}

/** The cheapest way to where nobody may make user namespaces. */
const FORBIDDEN = [
  ...['unshare', '--user', '--map-root-user', 'sh', '-c'],
  'echo 1 > /proc/sys/user/max_user_namespaces; exec unshare --user --map-user=1000 -- "$@"',
  'forbidden',
] as const;
const [unshare, ...forbidden] = FORBIDDEN;
const canForbid = requireOrSkip(
  spawnSync(unshare, [...forbidden, 'true']).status === 0,
  'user namespaces to forbid',
);

describe('a sandbox without walls', { timeout: 60_000 }, () => {
  test('is made with a warning, and info says so', () => {
    const made = sbx(client, 'create', 'box', ...WITHOUT);
    expect(made).toMatchObject({ code: 0, stdout: 'box\n' });
    expect(made.stderr.trim().split('\n')).toEqual([expect.stringContaining('isolation: none')]);
    expect(JSON.parse(must(client, 'info', 'box', '--json'))).toMatchObject({
      isolation: 'none',
      network: 'host',
      workdir: join(folder(), 'home'),
    });
  });

  test.each([
    ['--memory', '1g'],
    ['--pids', '10'],
    ['--cpus', '1'],
    ['--network', 'none'],
    ['--network', 'private'],
    ['--rootfs', '/'],
    ['--from', 'snapshot'],
    ['--user', 'nobody'],
    ['--hostname', 'name'],
  ])('is refused with %s, before anything is made', (flag, value) => {
    expect(sbx(client, 'create', 'box', ...WITHOUT, flag, value)).toMatchObject({
      code: 5,
      stderr: expect.stringContaining(flag),
    });
    expect(entries(join(client.root, 'names'))).toEqual([]);
  });

  test('has a workdir of this machine only where there is one', () => {
    create('--workdir', home);
    expect(must(client, 'exec', 'box', '--', 'pwd')).toBe(`${home}\n`);
    const missing = join(home, 'missing');
    expect(sbx(client, 'create', 'other', ...WITHOUT, '--workdir', missing)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(missing),
    });
    expect(existsSync(missing)).toBe(false);
  });

  test('says why it can do less', () => {
    create();
    for (const verb of ['pause', 'fork', 'diff', 'stats'])
      expect(sbx(client, verb, 'box')).toMatchObject({
        code: 5,
        stderr: expect.stringContaining("'box' does not support"),
      });
    expect(sbx(client, 'snapshot', 'create', 'box').stderr).toContain('it was made with --isolation none');
  });

  test.each(['the client alone', 'its whole process group'])(
    'ends a command when %s is killed',
    async (who) => {
      create();
      const seconds = uniqueSleep();
      const text = `sleep ${seconds} & sleep ${seconds} & echo ready; wait`;
      const child = spawn(process.execPath, [bin, 'exec', 'box', '--', 'sh', '-c', text], {
        env: client.env,
        detached: true,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      await once(child.stdout, 'data');
      process.kill((child.pid ?? 0) * (who === 'the client alone' ? 1 : -1), 'SIGKILL');
      await count(seconds).toBe(0);
    },
  );

  test('its time to live ends all of it, also what has cleared its environment', async () => {
    const seconds = uniqueSleep();
    create('--ttl', '3s');
    await startSleepers(seconds);
    await count(seconds).toBe(0);
    await expect.poll(() => list(client)).toEqual([]);
  });

  test('is stopped when what stands for it is killed; start and stop end what is left', async () => {
    create();
    const seconds = uniqueSleep();
    await startSleepers(seconds);
    const { pid } = JSON.parse(readFileSync(join(folder(), 'init.json'), 'utf8')) as { pid: number };
    process.kill(pid, 'SIGTERM');
    expect(list(client)).toMatchObject([{ state: 'running' }]);
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => list(client)).toMatchObject([{ state: 'stopped' }]);
    must(client, 'start', 'box');
    await count(seconds).toBe(0);
    await startSleepers(seconds);
    must(client, 'stop', 'box');
    await count(seconds).toBe(0);
  });

  test('with a broken init file is named with its path, and start ends what runs', async () => {
    create();
    const seconds = uniqueSleep();
    await startSleepers(seconds);
    writeFileSync(join(folder(), 'init.json'), '{gar');
    expect(list(client)).toMatchObject([
      { state: 'failed', reason: expect.stringContaining(join(folder(), 'init.json')) },
    ]);
    must(client, 'start', 'box');
    await count(seconds).toBe(0);
    must(client, 'rm', '--force', 'box');
    await expect.poll(() => countOnThisMachine(client.root)).toBe(0);
  });

  test('shows only ports of its own', async () => {
    create();
    const other = createServer().listen(0, '127.0.0.1');
    const text = "const s = require('net').createServer().listen(0, () => console.log(s.address().port))";
    const argv = [bin, 'exec', 'box', '--', process.execPath, '-e', text];
    const child = spawn(process.execPath, argv, { env: client.env, stdio: ['ignore', 'pipe', 'ignore'] });
    const [port] = (await once(child.stdout, 'data')) as [Buffer];
    const shown = JSON.parse(must(client, 'ports', 'box', '--json')) as { port: number }[];
    expect(shown.map((each) => each.port)).toEqual([Number(port)]);
    other.close();
    child.kill();
    await once(child, 'exit');
  });
});

describe('where no user namespaces can be made', { timeout: 60_000 }, () => {
  const inside = (...args: string[]) =>
    spawnSync(unshare, [...forbidden, process.execPath, bin, ...args], { env: client.env, encoding: 'utf8' });

  canForbid('create says what to do, and --isolation none works up to the removal', () => {
    const { status, stderr } = inside('create', 'box');
    expect(status).toBe(1);
    expect(stderr).toContain('--isolation none');
    expect(stderr).toContain('sbx backend add');
    const text = 'mkdir -p closed/deep; touch closed/deep/file; chmod 500 closed/deep closed; id -u';
    expect(inside('create', 'box', ...WITHOUT).status).toBe(0);
    expect(inside('exec', 'box', '--', 'sh', '-c', text).stdout).toBe('1000\n');
    expect(inside('rm', '--force', 'box').status).toBe(0);
    expect(entries(join(client.root, 'sandboxes'))).toEqual([]);
  });
});
