/** What somebody who knows docker finds when they use a real engine through sbx by hand: by its effects, seen from inside and by the docker CLI. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { type EngineClient, engineClient } from '../support/engines/client.ts';
import { type Engine, engineNeeds, startEngine } from '../support/engines/engine.ts';
import { asRoot } from '../support/require.ts';

const needs = engineNeeds();
const test = asRoot(needs === undefined, needs ?? '');
const BUSYBOX = 'sbx-test/busybox';

let folder: string;
let engine: Engine;
let client: EngineClient;
/** The engine's own networks and images. */
let before: string[];

beforeAll(async () => {
  if (needs !== undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'sbx-by-hand-'));
  engine = await startEngine({ work: join(folder, 'engine'), images: ['busybox', 'noshell'] });
  client = engineClient(folder, engine.host);
  before = present();
}, 180_000);
afterEach(() => {
  if (needs !== undefined) return;
  client.run('config', 'unset', 'backends.engine.show');
  client.run('rm', '--all', '--force', '--yes');
  for (const id of client.must('snapshot', 'ls', '-q').split('\n').filter(Boolean))
    client.must('snapshot', 'rm', id, '--yes');
  expect(present()).toEqual(before);
});
afterAll(async () => {
  if (needs !== undefined) return;
  await engine[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
}, 60_000);

function present(): string[] {
  const lists = ['ps --all --quiet', 'volume ls --quiet', 'network ls --quiet', 'image ls --all --quiet'];
  return lists.map((list) =>
    engine
      .docker(...list.split(' '))
      .split('\n')
      .sort()
      .join(' '),
  );
}

const create = (name: string, ...more: string[]) => client.must('create', name, '--image', BUSYBOX, ...more);
const inspect = (name: string, format: string) => engine.docker('inspect', '--format', `{{${format}}}`, name);
const removeLater = (name: string): Disposable => ({
  [Symbol.dispose]: () => void engine.docker('rm', '--force', '--volumes', name),
});
/** A container that sbx did not make, and sbx told to show such. */
function another(name: string, ...words: string[]): Disposable {
  engine.docker('run', '--detach', '--name', name, '--network', 'none', ...words);
  client.must('config', 'set', 'backends.engine.show', 'all');
  return removeLater(name);
}

describe('a sandbox that is stopped', () => {
  test('still has the logs and records of its processes', async () => {
    create('box', '--network', 'none', '--', 'sh', '-c', 'echo first; echo second; exec sleep 4321');
    const id = client.must('exec', '-d', 'box', '--', 'sh', '-c', 'echo other; exec sleep 4321').trim();
    await expect.poll(() => client.must('logs', 'box')).toBe('first\nsecond\n');
    await expect.poll(() => client.must('logs', 'box', '--process', id)).toBe('other\n');
    client.must('stop', 'box');
    expect(client.must('logs', 'box')).toBe('first\nsecond\n');
    expect(client.must('logs', 'box', '--tail', '1', '--follow')).toBe('second\n');
    expect(client.must('logs', 'box', '--process', id)).toBe('other\n');
    expect(client.run('logs', 'box', '--process', 'nope').code).toBe(3);
    const records = JSON.parse(client.must('ps', 'box', '--all', '--json')) as { state: string }[];
    expect(records).toMatchObject([
      { name: 'main', state: 'exited' },
      { id, state: 'exited' },
    ]);
  });

  test('that never had a process has no records, and says so', () => {
    create('box', '--network', 'none');
    client.must('stop', 'box');
    expect(client.must('ps', 'box', '--all', '--json')).toBe('[]\n');
    expect(client.run('logs', 'box')).toMatchObject({ code: 3 });
  });
});

describe('a fork', () => {
  test('has the volumes, ports, limits and host name of what it is a copy of', () => {
    create('box', '--volume', `${folder}:/here:ro`, '--port', '80', '--hostname', 'given', '--memory', '64m');
    client.must('fork', 'box', 'copy');
    const host = JSON.parse(inspect('copy', 'json .HostConfig')) as object;
    expect(host).toMatchObject({
      Binds: [`${folder}:/here:ro`],
      Memory: 67_108_864,
      PortBindings: { '80/tcp': [{ HostIp: '127.0.0.1' }] },
      Runtime: inspect('box', '.HostConfig.Runtime'),
    });
    expect(client.must('exec', 'copy', '--', 'hostname')).toBe('given\n');
    expect(client.must('exec', 'copy', '--', 'ls', '/here')).toContain('config\n');
  });

  test('of a container that sbx did not make runs as its user, not as root', () => {
    using _theirs = another('theirs', '--user', 'nobody', '--workdir', '/tmp', BUSYBOX, 'sleep', '4321');
    client.must('fork', 'theirs', 'copy');
    expect(client.must('exec', 'copy', '--', 'sh', '-c', 'id -un; pwd')).toBe('nobody\n/tmp\n');
    expect(client.must('ps', 'copy')).toContain('sleep 4321');
  });
});

describe('a container that sbx did not make', () => {
  test('says how it can be seen', () => {
    engine.docker('run', '--detach', '--name', 'theirs', '--network', 'none', BUSYBOX, 'sleep', '4321');
    using _theirs = removeLater('theirs');
    const { code, stderr } = client.run('exec', 'theirs', '--', 'true');
    expect(code).toBe(125);
    expect(stderr).toContain('was not made by sbx');
    expect(stderr).toContain('hint: to see all containers: sbx config set backends.engine.show all');
  });

  test('has the log of the engine, with times, also when it is stopped', async () => {
    using _theirs = another('theirs', BUSYBOX, 'sh', '-c', 'echo err >&2; echo out; exec sleep 4321');
    await expect.poll(() => engine.docker('logs', 'theirs')).toBe('out');
    expect(client.must('logs', 'theirs').split('\n').sort()).toEqual(['', 'err', 'out']);
    expect(client.must('logs', 'theirs', '--tail', '1', '--timestamps')).toMatch(/^\d{4}-.*Z (out|err)\n$/);
    expect(client.must('kill', 'theirs', 'main', '--signal', 'KILL')).toBe('main\n');
    engine.docker('wait', 'theirs');
    expect(client.must('logs', 'theirs', '--follow')).toContain('out\n');
    expect(JSON.parse(client.must('ps', 'theirs', '--json'))).toMatchObject([
      { name: 'main', state: 'exited', exit: { code: 137 } },
    ]);
  });

  test('and has a terminal, has its log as it was printed', async () => {
    using _theirs = another('theirs', '--tty', BUSYBOX, 'sh', '-c', 'echo out; exec sleep 4321');
    await expect.poll(() => engine.docker('logs', 'theirs')).toBe('out');
    expect(client.must('logs', 'theirs')).toBe('out\r\n');
  });

  test('and has no shell, has its process, and is told apart from a failure', () => {
    using _theirs = another('theirs', 'sbx-test/noshell');
    expect(JSON.parse(client.must('ps', 'theirs', '--json'))).toMatchObject([
      { name: 'main', state: 'running', argv: ['/bin/sleep', 'infinity'] },
    ]);
    for (const verb of ['ports', 'sessions']) {
      const { code, stderr } = client.run(verb, 'theirs');
      expect({ code, stderr }).toEqual({ code: 5, stderr: expect.stringContaining('no shell') });
    }
    expect(client.must('top')).toMatch(/theirs +engine +running/);
  });
});

describe('create', () => {
  test('tells the docker CLI which image it is made from', () => {
    create('box', '--network', 'none');
    expect(engine.docker('ps', '--format', '{{.Names}} {{.Image}}')).toBe(`box ${BUSYBOX}`);
  });

  test('whose setup fails ends at once, although the engine keeps a connection open', () => {
    const { code, stderr } = client.run('create', 'box', '--image', BUSYBOX, '--setup', 'exit 3');
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('exit code 3') });
  });

  test('refuses a port that would not be published', () => {
    for (const network of ['none', 'host']) {
      const { code, stderr } = client.run(
        'create',
        'box',
        '--image',
        BUSYBOX,
        '--network',
        network,
        '-p',
        '80',
      );
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringContaining('--port 80 publishes nothing'),
      });
    }
  });

  test('refuses a user who is not there, and leaves nothing', () => {
    const { code, stderr } = client.run('create', 'box', '--image', BUSYBOX, '--user', 'nouser');
    expect(code).toBe(1);
    expect(stderr).toMatch(/as user 'nouser'.*\nhint: /s);
    create('box', '--user', 'nobody');
    expect(client.run('exec', '--user', 'nouser', 'box', '--', 'true')).toMatchObject({
      code: 125,
      stderr: expect.stringContaining("as user 'nouser'"),
    });
  });

  test('says where the networks and runtimes of the engine are listed', () => {
    const network = client.run('create', 'box', '--image', BUSYBOX, '--network', 'nonet');
    expect(network.stderr).toContain('hint: see its networks: docker network ls');
    const runtime = client.run('create', 'box', '--image', BUSYBOX, '--runtime', 'nope');
    expect(runtime.stderr).toContain('hint: see its runtimes: docker info');
  });

  test('shows in info where a port is published, and what is mounted', () => {
    create('box', '--port', '80', '--volume', `${folder}:/here:ro`);
    const at = engine.docker('port', 'box', '80');
    expect(client.must('info', 'box')).toContain(`urls:    http://${at}\nvolumes: ${folder}:/here:ro\n`);
    expect(client.must('ls', '-o', 'wide')).toContain(`http://${at}`);
  });
});

describe('snapshots and diff', () => {
  test('one that is in use says by whom, also after a restore', () => {
    create('box', '--network', 'none');
    client.must('snapshot', 'create', 'box', '--name', 'before');
    client.must('snapshot', 'restore', 'box', 'before', '--yes');
    const { code, stderr } = client.run('snapshot', 'rm', 'before', '--yes');
    expect(code).toBe(1);
    expect(stderr).toMatch(/in use by 'box'\nhint: .*sbx rm box/);
  });

  test('diff shows nothing of what sbx keeps for a plain user', () => {
    create('box', '--network', 'none', '--user', 'nobody');
    client.must('exec', '-u', 'root', 'box', '--', 'chmod', '755', '/var/lib/sbx/processes');
    client.must('exec', '-d', 'box', '--', 'true');
    expect(client.must('exec', 'box', '--', 'ls', '-A', '/tmp')).toContain('.sbx-65534');
    client.must('exec', 'box', '--', 'touch', '/tmp/mine');
    expect(client.must('diff', 'box')).toBe('A /tmp/mine\n');
  });
});
