/** What goes wrong between the client and a real engine: it ends with 125 or 6, says what failed and what to do, and leaves nothing. */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { chmod, chown } from 'node:fs/promises';
import { createServer as httpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { goByEngine } from '../support/engines/by-engine.ts';
import { type Ended, type EngineClient, engineClient } from '../support/engines/client.ts';
import { type Engine, engineNeeds, startEngine } from '../support/engines/engine.ts';
import { asRoot } from '../support/require.ts';

const needs = engineNeeds();
const fault = asRoot(needs === undefined, needs ?? '');
/** How a client may end whose engine fails. */
const FAILED = [125, 6];
const FOREVER = ['sh', '-c', 'echo begun; exec sleep 4321'];

let folder: string;
let engine: Engine;
let client: EngineClient;
/** The engine's own networks. */
let before: string;

beforeAll(async () => {
  if (needs !== undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'sbx-faults-'));
  engine = await startEngine({ work: join(folder, 'engine'), images: ['busybox', 'noshell'] });
  client = engineClient(folder, engine.host);
  before = networks();
}, 180_000);
afterEach(() => {
  if (needs !== undefined) return;
  client.run('rm', '--all', '--force', '--yes');
  expect([container(), engine.docker('volume', 'ls', '--quiet'), networks()]).toEqual(['', '', before]);
});
afterAll(async () => {
  if (needs !== undefined) return;
  await engine[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
}, 60_000);

const create = (...more: string[]) =>
  client.must('create', 'box', '--image', 'sbx-test/busybox', '--network', 'none', ...more);

/** The only container, and what runs in it. */
const container = () => engine.docker('ps', '--all', '--quiet');
const networks = () => engine.docker('network', 'ls', '--format', '{{.Name}}');
const inside = () => engine.docker('top', container(), '-o', 'pid,args');

/** Says what failed, and in a hint what to do. */
function expectFailure({ code, stderr }: Ended, what: RegExp): void {
  expect(FAILED, stderr).toContain(code);
  expect(stderr).toMatch(what);
  expect(stderr).toMatch(/^hint: /m);
}

// Commands of others than root need the engine all the while, and so does a copy where no folder is shared.
describe('the engine is killed in the middle', () => {
  afterEach(() => engine.start());

  fault('of exec', async () => {
    create('--user', 'nobody');
    const exec = client.start('exec', 'box', '--', ...FOREVER);
    await exec.prints('begun');
    await engine.kill();
    expectFailure(await exec.ended, /engine/i);
  });

  fault('of exec with stdin', async () => {
    create('--user', 'nobody');
    const exec = client.start('exec', '-i', 'box', '--', 'sh', '-c', 'echo begun; cat');
    await exec.prints('begun');
    await engine.kill();
    expectFailure(await exec.ended, /engine/i);
  });

  fault('of cp out of a sandbox', async () => {
    create('--user', 'nobody');
    client.must(
      'exec',
      '--user',
      'root',
      'box',
      '--',
      'sh',
      '-c',
      'dd if=/dev/zero of=/big bs=1 count=1 seek=20G 2>/dev/null',
    );
    const copy = client.start('cp', 'box:/big', '-');
    await copy.prints('big');
    await engine.kill();
    expectFailure(await copy.ended, /engine/i);
  });

  fault('of cp out of a sandbox to a folder, and nothing is put there', async () => {
    create();
    goByEngine(folder);
    client.must('exec', 'box', '--', 'sh', '-c', 'dd if=/dev/zero of=/big bs=1 count=1 seek=20G 2>/dev/null');
    const target = mkdtempSync(join(folder, 'out-'));
    const copy = client.start('cp', 'box:/big', target);
    const staged = () => readdirSync(target).flatMap((name) => readdirSync(join(target, name)));
    await expect.poll(staged).toEqual(['big']);
    await engine.kill();
    expectFailure(await copy.ended, /engine/i);
    expect(readdirSync(target)).toEqual([]);
  });

  fault('of cp into a sandbox', async () => {
    create();
    goByEngine(folder);
    const pid = engine.docker('inspect', '--format', '{{.State.Pid}}', container());
    const huge = join(folder, 'huge');
    writeFileSync(huge, '');
    truncateSync(huge, 8 * 1024 ** 3);
    const copy = client.start('cp', huge, 'box:/root/huge');
    const staged = () => readdirSync(`/proc/${pid}/root/root`);
    await expect.poll(staged).toEqual([expect.stringMatching(/^\.sbx-/)]);
    await engine.kill();
    expectFailure(await copy.ended, /engine/i);
  });

  fault('of logs --follow', async () => {
    create('--user', 'nobody', '--', ...FOREVER);
    const logs = client.start('logs', '--follow', 'box');
    await logs.prints('begun');
    await engine.kill();
    expectFailure(await logs.ended, /engine/i);
  });
});

describe('the engine is stopped', () => {
  afterEach(() => engine.start());

  fault('in the middle of exec, and comes back', async () => {
    create();
    client.must('exec', 'box', '--', 'sh', '-c', 'echo kept > /file');
    const exec = client.start('exec', 'box', '--', ...FOREVER);
    await exec.prints('begun');
    await engine.stop();
    const { code, stderr } = await exec.ended;
    // The command may have been seen to end, or to be killed, with its container.
    expect([...FAILED, 137, 143], stderr).toContain(code);
    expectFailure(client.run('ls', '--backend', 'engine'), /engine/i);
    expectFailure(client.run('exec', 'box', '--', 'true'), /engine/i);
    await engine.start();
    client.must('start', 'box');
    expect(client.must('exec', 'box', '--', 'cat', '/file')).toBe('kept\n');
  });
});

describe('the container', () => {
  fault('is killed in the middle of exec', async () => {
    create();
    const exec = client.start('exec', 'box', '--', ...FOREVER);
    await exec.prints('begun');
    engine.docker('kill', container());
    const { code, stderr } = await exec.ended;
    expect([125, 137], stderr).toContain(code);
    expect(stderr).toMatch(/box.*(stopped|ended|killed|not run)/);
    expectFailure(client.run('exec', 'box', '--', 'true'), /not run|stopped/);
  });

  fault('runs out of memory: exec says so', async () => {
    create('--memory', '32m');
    const { code, stderr } = client.run('exec', 'box', '--', 'sh', '-c', 'tail -c 500000000 /dev/zero');
    expect(code, stderr).toBe(137);
    expect(stderr).toMatch(/memory/);
  });

  fault('is removed in the middle of exec', async () => {
    create();
    const exec = client.start('exec', 'box', '--', ...FOREVER);
    await exec.prints('begun');
    engine.docker('rm', '--force', container());
    const { code, stderr } = await exec.ended;
    expect([125, 137], stderr).toContain(code);
    expect(stderr).toMatch(/box/);
    expect(client.run('info', 'box').code).toBe(3);
    expect(client.run('exec', 'box', '--', 'true').code).toBe(125);
  });

  fault('has no shell in its image', async () => {
    const made = client.run('create', 'box', '--image', 'sbx-test/noshell', '--network', 'none');
    expect(made).toMatchObject({ code: 5, stderr: expect.stringMatching(/noshell.*sh/) });
    expect(made.stderr).toMatch(/^hint: /m);
    expect(container()).toBe('');
  });

  fault('is another’s, and has no shell', async () => {
    engine.docker('run', '--detach', '--name', 'theirs', '--network', 'none', 'sbx-test/noshell');
    client.must('config', 'set', 'backends.engine.show', 'all');
    try {
      const said = client.run('exec', 'theirs', '--', 'echo', 'said');
      expect(said, said.stderr).toMatchObject({ code: 0, stdout: 'said\n' });
      expect(client.run('exec', 'theirs', '--', 'sh', '-c', 'true')).toMatchObject({ code: 127 });
      const copied = client.run('cp', 'theirs:/etc/passwd', '-');
      expect([0, 5]).toContain(copied.code);
      if (copied.code !== 0) expect(copied.stderr).toMatch(/shell|\bsh\b/);
    } finally {
      client.must('config', 'unset', 'backends.engine.show');
      engine.docker('rm', '--force', 'theirs');
    }
  });
});

describe('the client is killed', () => {
  fault('and its command ends', async () => {
    create();
    const exec = client.start('exec', 'box', '--', ...FOREVER);
    await exec.prints('begun');
    expect(inside()).toContain('sleep 4321');
    exec.kill();
    await expect.poll(inside).not.toContain('sleep 4321');
    await expect.poll(() => engine.docker('inspect', '--format', '{{.ExecIDs}}', container())).toBe('[]');
  });

  fault('while it reads nothing, and its command ends', async () => {
    create();
    const exec = client.start('exec', '-i', 'box', '--', 'sh', '-c', 'echo begun; cat; exec sleep 4321');
    await exec.prints('begun');
    exec.kill();
    await expect.poll(inside).not.toMatch(/\bcat\b|sleep 4321/);
  });
});

describe('no engine', () => {
  fault('where the socket should be', () => expectBoth(client.at(`unix://${folder}/none`), /no such socket/));

  fault('that this user may use', async () => {
    const path = join(folder, 'theirs');
    await using _server = await listening(createServer(), path);
    await chown(path, 65_534, 65_534);
    await chmod(path, 0o600);
    const plain = client
      .through('setpriv', '--bounding-set', '-dac_override,-dac_read_search')
      .at(`unix://${path}`);
    expectBoth(plain, /may not|permi/);
  });

  fault('at a TCP address', async () => {
    const server = createServer();
    await listening(server, 0);
    const { port } = server.address() as { port: number };
    server.close();
    await once(server, 'close');
    expectBoth(client.at(`tcp://127.0.0.1:${port}`), new RegExp(`127\\.0\\.0\\.1:${port}`));
  });

  fault('but something that speaks no HTTP', async () => {
    const path = join(folder, 'mute');
    await using _server = await listening(
      createServer((socket) =>
        socket
          .on('error', () => undefined)
          .resume()
          .end('SSH-2.0-x\r\n'),
      ),
      path,
    );
    const ended = await client.at(`unix://${path}`).start('ls', '--backend', 'engine').ended;
    expectFailure(ended, /engine/i);
    expect(ended.code).toBe(6);
  });

  fault('that is new enough', async () => {
    const path = join(folder, 'old');
    const old = httpServer((_, response) => response.writeHead(200, { 'Api-Version': '1.12' }).end('OK'));
    await using _server = await listening(old, path);
    const ended = await client.at(`unix://${path}`).start('ls', '--backend', 'engine').ended;
    expectFailure(ended, /1\.12/);
  });
});

/** `ls` with 6 and `exec` with 125. */
function expectBoth(other: EngineClient, what: RegExp): void {
  const ls = other.run('ls', '--backend', 'engine');
  expectFailure(ls, what);
  expect(ls.code).toBe(6);
  const exec = other.run('exec', 'box', '--', 'true');
  expectFailure(exec, what);
  expect(exec.code).toBe(125);
}

async function listening(server: Server, at: string | number): Promise<AsyncDisposable> {
  server.listen(at);
  await once(server, 'listening');
  return {
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}
