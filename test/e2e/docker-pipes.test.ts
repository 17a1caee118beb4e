/** Commands that start past the engine, from outside: what goes that way, who may, and what becomes of it when something goes wrong. */
import { mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { type EngineClient, engineClient } from '../support/engines/client.ts';
import { type Engine, engineNeeds, startEngine } from '../support/engines/engine.ts';
import { asRoot } from '../support/require.ts';

const needs = engineNeeds();
const test = asRoot(needs === undefined, needs ?? '');

let folder: string;
let engine: Engine;
let client: EngineClient;

beforeAll(async () => {
  if (needs !== undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'sbx-pipes-'));
  engine = await startEngine({ work: join(folder, 'engine'), images: ['busybox'] });
  client = engineClient(folder, engine.host);
}, 180_000);
afterEach(() => {
  if (needs !== undefined) return;
  client.run('rm', '--all', '--force', '--yes');
  expect(shared()).toEqual([]);
});
afterAll(async () => {
  if (needs !== undefined) return;
  await engine[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
}, 60_000);

/** A sandbox that serves commands by pipes. */
async function create(...more: string[]): Promise<void> {
  client.must('create', 'box', '--image', 'sbx-test/busybox', '--network', 'none', ...more);
  until(() => way('--user', 'root') === 'pipes');
}

/** Asks until it is so. */
function until(isSo: () => boolean): void {
  for (let asked = 1; !isSo(); asked++) if (asked === 100) throw new Error(`it never came to be: ${isSo}`);
}

/** How a command came into the sandbox: the engine's have no parent there. */
function way(...flags: string[]): 'pipes' | 'engine' {
  return client.must('exec', ...flags, 'box', '--', 'sh', '-c', 'echo $PPID') === '0\n' ? 'engine' : 'pipes';
}

/** Folders that are shared with containers. */
const shared = () => readdirSync(join(folder, 'state/docker')).filter((name) => name !== 'spare');
const container = () => engine.docker('ps', '--all', '--quiet');
const inside = (...argv: string[]) => engine.docker('exec', container(), ...argv);
const processes = () => engine.docker('top', container(), '-o', 'pid,args').split('\n').slice(1);
const isServer = (line: string) => /^ *\d+ +\/bin\/sh \/var/.test(line);
/** Sends a signal to the server. */
const signalServer = (name: string) => {
  const each = '$(basename "$(dirname "$file")") $(tr "\\0" " " < "$file")';
  const list = inside('sh', '-c', `for file in /proc/[0-9]*/cmdline; do echo "${each}"; done`);
  const [, pid = ''] = /^(\d+) \/bin\/sh \/var/m.exec(list) ?? [];
  inside('sh', '-c', `kill -s ${name} ${pid}`);
};

describe('a command', () => {
  test('of root goes by pipes, of others by the engine', async () => {
    await create();
    expect([way(), way('--user', '0'), way('--user', 'nobody')]).toEqual(['pipes', 'pipes', 'engine']);
    expect(
      engine.docker('inspect', '--format', '{{range .Mounts}}{{.Destination}} {{.RW}}{{end}}', container()),
    ).toBe('/var/lib/sbx/exec/pipes false');
  });

  test('goes by the engine for a client that does not share the folder', async () => {
    await create();
    const other = engineClient(join(folder, 'other'), engine.host);
    expect(other.must('exec', 'box', '--', 'sh', '-c', 'echo $PPID')).toBe('0\n');
  });

  test('goes by pipes again after a restart, a restore and in a fork', async () => {
    await create();
    const snapshot = client.must('snapshot', 'create', 'box').trim();
    client.must('stop', 'box');
    expect(client.run('exec', 'box', '--', 'true').stderr).toMatch(/not running/);
    client.must('start', 'box');
    until(() => way() === 'pipes');
    client.must('snapshot', 'restore', 'box', snapshot, '--yes');
    until(() => way() === 'pipes');
    client.must('fork', 'box', 'twin');
    until(() => client.must('exec', 'twin', '--', 'sh', '-c', 'echo $PPID') !== '0\n');
    expect(shared()).toHaveLength(2);
    client.must('rm', '--force', 'twin');
    client.must('rm', '--force', 'box');
    client.must('snapshot', 'rm', snapshot, '--yes');
  });

  test('is refused in a paused sandbox as ever', async () => {
    await create();
    client.must('pause', 'box');
    expect(client.run('exec', 'box', '--', 'true')).toMatchObject({
      code: 125,
      stderr: expect.stringMatching(/paused/),
    });
    client.must('resume', 'box');
    expect(way()).toBe('pipes');
  });

  test('does not need the engine once it runs', async () => {
    await create();
    const exec = client.start('exec', '-i', 'box', '--', 'sh', '-c', 'echo begun; cat; exec sleep 4321');
    await exec.prints('begun');
    await engine.kill();
    await engine.start();
    // Which ends what runs on when it comes back.
    const { code, stderr } = await exec.ended;
    expect([125, 137, 143], stderr).toContain(code);
  });
});

describe('whoever is not root inside', () => {
  test('reaches neither the requests nor other commands’ streams', async () => {
    await create('--user', 'nobody');
    const script = 'echo "pid $$"; exec sleep 4321';
    const long = client.start('exec', '--user', 'root', 'box', '--', 'sh', '-c', script);
    await long.prints('pid');
    const attempt = (text: string) => client.run('exec', 'box', '--', 'sh', '-c', text).stderr;
    expect(attempt('ls /var/lib/sbx/exec')).toMatch(/denied/);
    expect(attempt('echo 0123 > /var/lib/sbx/exec/pipes/requests')).toMatch(/denied/);
    expect(attempt('for each in /proc/[0-9]*/fd; do [ -O "$each" ] || ls "$each"; done')).toMatch(/denied/);
    long.kill();
    await long.ended;
  });

  test('and root cannot change the folder either', async () => {
    await create();
    const script = 'cd /var/lib/sbx/exec/pipes && { rm -f requests; ln -s /etc x; mkfifo y; echo > serve; }';
    expect(client.run('exec', 'box', '--', 'sh', '-c', script).stderr).toMatch(/Read-only/);
    expect(way()).toBe('pipes');
  });
});

describe('the server', () => {
  test('is killed: commands go by the engine, which brings it back', async () => {
    await create();
    signalServer('KILL');
    expect(way()).toBe('engine');
    until(() => way() === 'pipes');
    until(() => processes().filter(isServer).length === 1);
  });

  test('stands still: the command runs once, by the engine', async () => {
    await create();
    signalServer('STOP');
    client.must('exec', 'box', '--', 'sh', '-c', 'echo ran >> /ran');
    signalServer('CONT');
    expect(way()).toBe('pipes');
    expect(inside('cat', '/ran')).toBe('ran');
  });

  test('loses what waits for a command: its client says so, and the command ends', async () => {
    await create();
    const script = 'echo $PPID > /parent; echo begun; exec sleep 4321';
    const exec = client.start('exec', 'box', '--', 'sh', '-c', script);
    await exec.prints('begun');
    inside('sh', '-c', 'kill -9 "$(cat /parent)"');
    const { code, stderr } = await exec.ended;
    expect({ code, stderr }).toMatchObject({
      code: 125,
      stderr: expect.stringMatching(/watched over.*killed/),
    });
    until(() => !processes().some((line) => line.includes('4321')));
  });

  test('has a hundred clients at once, and no process stays', async () => {
    await create();
    const before = processes().length;
    const all = Array.from({ length: 100 }, (_, index) =>
      client.start('exec', 'box', '--', 'echo', `${index}`),
    );
    const ended = await Promise.all(all.map((each) => each.ended));
    expect(ended.map(({ code, stdout }) => [code, stdout])).toEqual(all.map((_, index) => [0, `${index}\n`]));
    until(() => processes().length <= before);
  }, 120_000);
});

test('a client that is killed with -9 ends its command and what left its group', async () => {
  await create();
  const script = 'setsid sleep 4321 & sleep 4321 & echo begun; wait';
  const exec = client.start('exec', 'box', '--', 'sh', '-c', script);
  await exec.prints('begun');
  expect(processes().filter((line) => line.includes('4321')).length).toBeGreaterThan(1);
  exec.kill();
  until(() => !processes().some((line) => line.includes('4321')));
});

test('the folder of a sandbox that somebody else removed goes with prune', async () => {
  await create();
  const [id = ''] = shared();
  engine.docker('rm', '--force', container());
  expect(client.must('prune', '--dry-run')).not.toContain(id);
  const old = Date.now() / 1000 - 1000;
  utimesSync(join(folder, 'state/docker', id, 'engine'), old, old);
  expect(client.must('prune', '--yes')).toContain(id);
  expect(shared()).toEqual([]);
});

test('an engine that does not see the folder: the sandbox is made without', () => {
  const hidden = join(folder, 'hidden');
  const mounted = 'mkdir -p "$0" && mount -t tmpfs none "$0" && export SBX_STATE_DIR="$0" && exec "$@"';
  const other = client.through('unshare', '-m', 'sh', '-c', mounted, hidden);
  other.must('create', 'box', '--image', 'sbx-test/busybox', '--network', 'none');
  expect(client.must('exec', 'box', '--', 'sh', '-c', 'echo $PPID')).toBe('0\n');
});
