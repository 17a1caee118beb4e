import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import EnvSet from '../../../src/commands/env/set.ts';
import Exec from '../../../src/commands/exec.ts';
import SnapshotCreate from '../../../src/commands/snapshot/create.ts';
import Stop from '../../../src/commands/stop.ts';
import type { Backend } from '../../../src/lib/backend/contract.ts';
import { createMemoryBackend } from '../../../src/lib/backends/memory/index.ts';
import { listen } from '../../lib/ops/forward/host-sandbox.ts';
import { type Completing, completing } from '../../support/completing.ts';
import { clockWith, hasty } from '../../support/later.ts';

/** A backend on which nothing ever comes to an end. */
function silentBackend(name: string): Backend {
  const never = () => new Promise<never>(() => undefined);
  return {
    ...createMemoryBackend({ name }),
    get: never,
    async *list() {
      yield await never();
    },
  };
}

const lab = createMemoryBackend({ name: 'lab' });
let it: Completing;
const server = createServer();
let port: string;

beforeAll(async () => {
  const commands = { exec: Exec, stop: Stop, 'env:set': EnvSet, 'snapshot:create': SnapshotCreate };
  it = completing(commands, [lab, silentBackend('silent')]);
  for (const name of ['box', 'web']) await it.line.run(['create', name]);
  await it.line.run(['create', 'lab/far']);
  await it.line.run(['create', 'idle']);
  await it.line.run(['stop', 'idle']);
  port = String(await listen(server));
});
afterAll(async () => {
  server.close();
  await it[Symbol.asyncDispose]();
  await lab.dispose();
});

describe('verbs', () => {
  test('all of them, and topics', async () => {
    const verbs = await it.tab(['']);
    expect(verbs).toEqual(expect.arrayContaining(['exec', 'ls', 'snapshot', 'files', 'completion', 'help']));
    expect(verbs).not.toContain('complete');
    expect(verbs).not.toContain('list');
  });

  test('those of a topic, and of one that is a verb too', async () => {
    expect(await it.tab(['snapshot', ''])).toEqual(['create', 'info', 'ls', 'restore', 'rm']);
    expect(await it.tab(['forward', ''])).toEqual(expect.arrayContaining(['ls', 'stop', 'box']));
    expect(await it.tab(['completion', ''])).not.toContain('complete');
  });

  test('another name once it is begun, and its arguments', async () => {
    expect(await it.tab(['rem'])).toContain('remove');
    expect(await it.tab(['remove', ''])).toContain('box');
    expect(await it.tab(['snapshot', 'del'])).toContain('delete');
  });

  test('behind help, and behind flags that every verb has', async () => {
    expect(await it.tab(['help', 'snapshot', ''])).toEqual(['create', 'info', 'ls', 'restore', 'rm']);
    expect(await it.tab(['-b', 'lab', '--json', ''])).toContain('exec');
  });

  test('nothing behind one that there is not', async () => {
    expect(await it.tab(['zzz', ''])).toEqual([]);
  });
});

describe('flags', () => {
  test('those of the verb and those of all, but none twice', async () => {
    expect(await it.tab(['ls', '--'])).toEqual(
      expect.arrayContaining(['--all', '--state', '--json', '--backend', '--help']),
    );
    const more = await it.tab(['ls', '--all', '--state', 'running', '--']);
    expect(more).not.toContain('--all');
    expect(more).toContain('--state');
    expect(await it.tab(['ls', '-a', '--'])).not.toContain('--all');
  });

  test('none that another one rules out, and none that is hidden', async () => {
    expect(await it.tab(['create', '--rootfs', 'x', '--'])).not.toContain('--image');
    expect(await it.tab(['forward', '--'])).not.toContain('--background-id');
  });

  test('letters behind a single dash', async () => {
    expect(await it.tab(['exec', '-'])).toEqual(expect.arrayContaining(['-i', '-t', '--interactive']));
    expect(await it.tab(['exec', '--'])).not.toContain('-i');
  });

  test('where nothing else can stand', async () => {
    expect(await it.tab(['ls', ''])).toContain('--all');
  });

  test('what a value is limited to, apart, behind "=" and behind a letter', async () => {
    expect(await it.tab(['ls', '--output', ''])).toContain('jsonl');
    expect(await it.tab(['ls', '--output='])).toContain('--output=jsonl');
    expect(await it.tab(['ls', '-oj'])).toContain('-ojsonl');
    expect(await it.tab(['ls', '-qo', ''])).toContain('jsonl');
    expect(await it.tab(['create', '--network', ''])).toEqual(['private', 'host', 'none']);
    expect(await it.tab(['completion', 'install', ''])).toEqual(['bash', 'zsh', 'fish', 'powershell']);
  });
});

describe('names', () => {
  test('sandboxes in a state that the verb is for', async () => {
    expect(await it.tab(['rm', ''])).toEqual(
      expect.arrayContaining(['box', 'web', 'idle', 'lab/', 'silent/']),
    );
    expect(await it.tab(['rm', 'box', ''])).toContain('web');
    expect(await it.tab(['exec', ''])).not.toContain('idle');
    expect(await it.tab(['start', ''])).toContain('idle');
    expect(await it.tab(['start', ''])).not.toContain('box');
  });

  test('those of another backend, and no other is asked', async () => {
    expect(await it.tab(['exec', 'lab/'])).toEqual(['lab/far']);
    expect(await it.tab(['exec', 'nowhere/'])).toEqual([]);
  });

  test('backends and their types', async () => {
    expect(await it.tab(['backend', 'add', 'x', '--type', ''])).toContain('memory');
  });

  test('snapshots by name, else by id, and by id once it is begun', async () => {
    const named = await it.line.run(['snapshot', 'create', 'box', '--name', 'before', '--json']);
    const { id } = JSON.parse(named.stdout) as { id: string };
    const bare = (await it.line.run(['snapshot', 'create', 'box'])).stdout.trim();
    expect((await it.tab(['create', '--from', ''])).sort()).toEqual([bare, 'before'].sort());
    expect(await it.tab(['snapshot', 'rm', id.slice(0, 3)])).toContain(id);
    expect(await it.tab(['snapshot', 'restore', 'box', ''])).toContain('before');
  });

  test('processes of the sandbox that is named, wherever its name stands', async () => {
    const id = (await it.line.run(['exec', '-d', 'box', '--', 'sleep', '60'])).stdout.trim();
    expect(await it.tab(['kill', 'box', ''])).toEqual([id]);
    expect(await it.tab(['logs', 'box', '--process', ''])).toEqual([id]);
    expect(await it.tab(['logs', '--process', ''], { env: { SBX_SANDBOX: 'box' } })).toEqual([id]);
    expect(await it.tab(['wait', 'box', '--for', 'process:'])).toEqual([`process:${id}`]);
    expect(await it.tab(['logs', 'web', '--process', ''])).toEqual([]);
  });

  test('no names where it is not plain which sandbox is meant', async () => {
    expect(await it.tab(['logs', '-b', 'memory', '--process', ''])).toEqual([]);
  });

  test('ports on which something listens', async () => {
    expect(await it.tab(['ports', 'wait', 'box', ''])).toContain(port);
    expect(await it.tab(['forward', 'box', ''])).toContain(port);
    expect(await it.tab(['forward', 'box', '8080:'])).toContain(`8080:${port}`);
    expect(await it.tab(['wait', 'box', '--for=port:'])).toContain(`--for=port:${port}`);
  });

  test('variables without their values', async () => {
    await it.line.run(['env', 'set', 'box', 'TOKEN=secret']);
    expect(await it.tab(['env', 'unset', 'box', ''])).toContain('TOKEN');
    expect(JSON.stringify(await it.ask(['env', 'unset', 'box', '']))).not.toContain('secret');
  });
});

describe('paths', () => {
  beforeAll(async () => {
    const make =
      'mkdir -p d/deep; touch d/-dash d/.hidden d/plain "$(printf "d/two\\nlines")" "$(printf "d/\\033[31mred")"';
    await it.line.run(['exec', 'box', '--', 'sh', '-c', make]);
  });

  test('in a sandbox, behind its name', async () => {
    expect((await it.tab(['cp', 'box:d/'])).sort()).toEqual([
      'box:d/-dash',
      'box:d/deep/',
      'box:d/plain',
      'box:d/two\nlines',
    ]);
    expect(await it.tab(['cp', './x', 'box:d/.'])).toContain('box:d/.hidden');
    expect(await it.tab(['files', 'cat', 'box', 'd/'])).toContain('d/plain');
    expect(await it.tab(['files', 'rm', 'box', 'd/deep/../'])).toContain('d/deep/../plain');
    expect(await it.tab(['files', 'cat', './d/'], { env: { SBX_SANDBOX: 'box' } })).toContain('./d/plain');
    expect(await it.tab(['exec', '-w', 'd/', 'box'])).not.toContain('d/plain');
  });

  test('of this machine are left to the shell', async () => {
    expect((await it.ask(['create', '--env-file', ''])).orders).toBe('files');
    expect((await it.ask(['create', '--repo', ''])).orders).toBe('folders');
    expect((await it.ask(['cp', './'])).orders).toBe('files');
    const { orders, values } = await it.ask(['cp', '']);
    expect(orders.split(' ')).toContain('files');
    expect(values).toContain('box:');
  });
});

describe('a command to run', () => {
  test.each([
    [['exec', 'box', '--', ''], 3],
    [['exec', 'box', ''], 2],
    [['exec', 'box', 'ls', '-l'], 2],
    [['exec', '-u', 'me', 'box', 'ls', ''], 4],
    [['run', ''], 1],
    [['run', '--keep', '--', 'make', ''], 3],
    [['create', 'x', '--', ''], 3],
  ])('%j is left to the shell from word %i on', async (words, at) => {
    expect(await it.ask(words)).toEqual({ orders: `inner ${at}`, values: [] });
  });

  test('its flags are its own', async () => {
    expect(await it.tab(['exec', 'box', 'ls', '--'])).toEqual([]);
    expect(await it.tab(['exec', 'box', '--'])).toContain('--env');
  });
});

describe('whatever happens, exit 0 and nothing on stderr', () => {
  test('a backend that does not answer has no names', async () => {
    // The verbs stand beside them and are there all the same.
    const clock = clockWith(hasty);
    expect(await it.tab(['exec', 'silent/'], { clock })).toEqual([]);
    expect(await it.tab(['snapshot', ''], { clock })).toContain('create');
    expect(await it.tab(['forward', '-b', 'silent', ''], { clock })).toEqual([]);
  });

  test('a sandbox that is not there has nothing inside', async () => {
    expect(await it.tab(['logs', 'nobody', '--process', ''])).toEqual([]);
    expect(await it.tab(['cp', 'nobody:/'])).toEqual([]);
    expect(await it.tab(['cp', '/:/'])).toEqual([]);
  });

  test.each([[[]], [['nosuchshell', '']], [['bash']], [['powershell', '']], [['powershell', 'e30=', '']]])(
    'words that no script says: %j',
    async (words) => {
      const { exit, stderr } = await it.line.run(['completion', 'complete', ...words]);
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    },
  );

  test('a mistake before the cursor', async () => {
    expect(await it.tab(['ls', '--json=x', ''])).toEqual([]);
  });

  test('what went wrong can be read in a file', async () => {
    const log = join(it.line.folder, 'completion.log');
    await it.tab(['logs', 'nobody', '--process', ''], { env: { SBX_COMPLETION_LOG: log } });
    expect(readFileSync(log, 'utf8')).toContain("no sandbox 'nobody'");
    mkdirSync(join(it.line.folder, 'folder'));
    writeFileSync(join(it.line.folder, 'folder/x'), '');
    const nowhere = join(it.line.folder, 'folder');
    expect(
      await it.tab(['logs', 'nobody', '--process', ''], { env: { SBX_COMPLETION_LOG: nowhere } }),
    ).toEqual([]);
  });
});
