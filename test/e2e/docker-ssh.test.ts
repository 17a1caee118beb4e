/** An engine on a machine that is reached by ssh. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { type EngineClient, engineClient } from '../support/engines/client.ts';
import { engineHost, noEngine } from '../support/engines/shared.ts';
import { type SshServer, sshNeeds, startSshServer } from '../support/engines/ssh-server.ts';
import { asRoot } from '../support/require.ts';

const needs = noEngine ?? sshNeeds;
const remote = asRoot(needs === undefined, needs ?? '');

let folder: string;
let server: SshServer;
let client: EngineClient;

beforeAll(async () => {
  if (needs !== undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'sbx-ssh-'));
  server = await startSshServer(join(folder, 'server'));
  server.setEnv({ PATH: process.env.PATH ?? '', DOCKER_HOST: engineHost ?? '' });
  client = engineClient(folder, `ssh://root@127.0.0.1:${server.port}`).with({ PATH: server.path });
  await must('create', 'far', '--image', 'sbx-test/busybox', '--network', 'none');
});
afterEach(async () => {
  if (needs === undefined) await expect.poll(() => server.connections()).toBe(0);
});
afterAll(async () => {
  if (needs !== undefined) return;
  await must('rm', '--force', '--yes', 'far');
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** The server is of this process, which must not wait for a client otherwise. */
async function must(...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await client.start(...words).ended;
  expect(code, stderr).toBe(0);
  return stdout;
}

describe('a command there', () => {
  remote('has streams both ways, which end apart', async () => {
    const both = await client.start('exec', 'far', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7').ended;
    expect(both).toEqual({ code: 7, stdout: 'out\n', stderr: expect.stringMatching(/err\n$/) });
  });

  remote('reads its input to the end', async () => {
    const fed = client.through('sh', '-c', 'head -c 3000000 /dev/zero | exec "$@"', 'sh');
    const counted = await fed.start('exec', '-i', 'far', '--', 'wc', '-c').ended;
    expect(counted).toMatchObject({ code: 0, stdout: '3000000\n' });
  });

  remote('is not all: files go there and back', async () => {
    const file = join(folder, 'file');
    const bytes = Buffer.alloc(3_000_000, 'ways');
    writeFileSync(file, bytes);
    await must('cp', file, 'far:/root/file');
    await must('cp', 'far:/root/file', `${file}-back`);
    expect(readFileSync(`${file}-back`).equals(bytes)).toBe(true);
  });

  remote('ends with a client that is killed, and so does ssh', async () => {
    const exec = client.start('exec', 'far', '--', 'sh', '-c', 'echo begun; exec sleep 4322');
    await exec.prints('begun');
    exec.kill();
    await exec.ended;
    await expect.poll(() => server.connections()).toBe(0);
    expect(await must('exec', 'far', '--', 'ps')).not.toContain('sleep 4322');
  });
});

describe('ssh says why when', () => {
  const expectBoth = async (other: EngineClient, what: RegExp, hint: RegExp) => {
    const ls = await other.start('ls', '--backend', 'engine').ended;
    expect(ls).toMatchObject({ code: 6, stderr: expect.stringMatching(what) });
    expect(ls.stderr).toMatch(hint);
    expect(await other.start('exec', 'far', '--', 'true').ended).toMatchObject({
      code: 125,
      stderr: ls.stderr,
    });
  };

  remote('nothing listens there', () =>
    expectBoth(
      client.at('ssh://root@127.0.0.1:1'),
      /port 1: Connection refused/,
      /^hint: .*ssh .* docker version$/m,
    ),
  );

  remote('there is no such host', () =>
    expectBoth(client.at('ssh://nowhere.invalid'), /nowhere\.invalid/, /^hint: .*ssh .* docker version$/m),
  );

  remote('our key is refused', async () => {
    server.admit(false);
    try {
      await expectBoth(client, /Permission denied/, /^hint: .*ssh .* docker version$/m);
    } finally {
      server.admit(true);
    }
  });

  remote('nobody knows the key of that machine', async () => {
    const known = join(folder, 'server', 'known_hosts');
    const config = join(folder, 'server', 'ssh_config');
    const [hosts, settings] = [readFileSync(known), readFileSync(config, 'utf8')];
    writeFileSync(known, '');
    writeFileSync(config, settings.replace('accept-new', 'yes'));
    try {
      await expectBoth(client, /Host key verification failed/, /^hint: .*ssh .* docker version$/m);
    } finally {
      writeFileSync(known, hosts);
      writeFileSync(config, settings);
    }
  });

  remote('there is no docker command there', async () => {
    const shell = join(folder, 'shell');
    mkdirSync(shell);
    server.setEnv({ PATH: shell });
    try {
      await expectBoth(client, /docker: (command )?not found/, /^hint: install the docker command there/m);
    } finally {
      server.setEnv({ PATH: process.env.PATH ?? '', DOCKER_HOST: engineHost ?? '' });
    }
  });

  remote('there is no engine there', () =>
    expectBoth(
      client.at(`ssh://root@127.0.0.1:${server.port}/nowhere.sock`),
      /nowhere\.sock: .*no such file/,
      /^hint: .* --host unix:\/\/\/nowhere\.sock version$/m,
    ),
  );
});
