import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import Create from '../../src/commands/create.ts';
import Diff from '../../src/commands/diff.ts';
import Extend from '../../src/commands/extend.ts';
import Fork from '../../src/commands/fork.ts';
import Info from '../../src/commands/info.ts';
import Pause from '../../src/commands/pause.ts';
import Rename from '../../src/commands/rename.ts';
import Restart from '../../src/commands/restart.ts';
import Resume from '../../src/commands/resume.ts';
import Rm from '../../src/commands/rm.ts';
import Start from '../../src/commands/start.ts';
import Stop from '../../src/commands/stop.ts';
import Wait from '../../src/commands/wait.ts';
import type { SandboxState } from '../../src/lib/backend/contract.ts';
import { waitFor } from '../../src/lib/ops/wait.ts';
import { answering, type CommandLine, commandLine } from '../support/command-line.ts';

const call = { signal: new AbortController().signal };
const commands = {
  create: Create,
  diff: Diff,
  extend: Extend,
  fork: Fork,
  info: Info,
  pause: Pause,
  rename: Rename,
  restart: Restart,
  resume: Resume,
  rm: Rm,
  start: Start,
  stop: Stop,
  wait: Wait,
};
const lines: CommandLine[] = [];
let line: CommandLine;

beforeEach(() => {
  line = commandLine({ commands });
  lines.push(line);
});
afterAll(async () => {
  for (const each of lines) await each[Symbol.asyncDispose]();
});

async function states(): Promise<Record<string, SandboxState>> {
  const found: Record<string, SandboxState> = {};
  for await (const { name, state } of line.memory.list({ all: true }, call)) found[name] = state;
  return found;
}

async function make(...names: string[]): Promise<void> {
  for (const name of names) expect(await line.run(['create', name])).toMatchObject({ exit: 0 });
}

describe('start, stop, pause, resume, restart', () => {
  it.each([
    ['stop', 'running', 'stopped', 'stopped'],
    ['pause', 'running', 'paused', 'paused'],
    ['restart', 'running', 'running', 'restarted'],
    ['start', 'stopped', 'running', 'started'],
    ['resume', 'paused', 'running', 'resumed'],
  ] as const)('%s prints the names and takes a sandbox from %s to %s', async (verb, from, to, done) => {
    await make('a', 'b');
    for (const name of ['a', 'b']) {
      if (from === 'stopped') await line.run(['stop', name]);
      if (from === 'paused') await line.run(['pause', name]);
    }
    expect(await line.run([verb, 'a', 'memory/b'])).toEqual({ exit: 0, stdout: 'a\nb\n', stderr: '' });
    expect(await states()).toEqual({ a: to, b: to });
    const again = await line.run([verb, 'a', '--json']);
    expect(JSON.parse(again.stdout)).toEqual([
      { name: 'a', id: expect.any(String), backend: 'memory', done },
    ]);
  });

  it('goes on after a failure, names each, and ends with the first kind of failure', async () => {
    await make('a');
    const result = await line.run(['stop', 'nope', 'a', 'gone']);
    expect(result.exit).toBe(3);
    expect(result.stdout).toBe('a\n');
    expect(result.stderr).toBe(
      "error: nope: there is no sandbox 'nope' on backend 'memory'\nerror: gone: there is no sandbox 'gone' on backend 'memory'\nerror: 2 of 3 failed\n",
    );
    expect(await states()).toEqual({ a: 'stopped' });
  });

  it('puts failures into the JSON', async () => {
    await make('a');
    const { exit, stdout } = await line.run(['stop', 'a', 'nope', '--json']);
    expect(exit).toBe(3);
    expect(JSON.parse(stdout)).toEqual([
      { name: 'a', id: expect.any(String), backend: 'memory', done: 'stopped' },
      { name: 'nope', error: "there is no sandbox 'nope' on backend 'memory'", code: 'not_found' },
    ]);
  });

  it('takes the only one that it can mean when none is named', async () => {
    await make('a', 'b');
    await line.run(['stop', 'b']);
    expect(await line.run(['start'])).toEqual({
      exit: 0,
      stdout: 'b\n',
      stderr: "using sandbox 'b', the only stopped one\n",
    });
  });
});

describe('rm', () => {
  it('removes a stopped one without asking, and is also called remove and delete', async () => {
    await make('a', 'b', 'c');
    await line.run(['stop', 'a', 'b', 'c']);
    expect(await line.run(['rm', 'a'])).toEqual({ exit: 0, stdout: 'a\n', stderr: '' });
    expect(await line.run(['remove', 'b'])).toMatchObject({ exit: 0 });
    expect(await line.run(['delete', 'c'])).toMatchObject({ exit: 0 });
    expect(await states()).toEqual({});
  });

  it('refuses one that runs when nobody can be asked, and names the flag', async () => {
    await make('a');
    const result = await line.run(['rm', 'a']);
    expect(result).toMatchObject({ exit: 2, stdout: '' });
    expect(result.stderr).toContain('hint: add --force');
    expect(await states()).toEqual({ a: 'running' });
  });

  it('asks on a terminal and does what the answer says', async () => {
    await make('a');
    const no = answering(false);
    expect(await line.run(['rm', 'a'], { prompter: no })).toEqual({
      exit: 1,
      stdout: '',
      stderr: 'error: nothing was removed\n',
    });
    expect(no.asked).toEqual(["Remove sandbox 'a' with all files and processes?"]);
    expect(await line.run(['rm', 'a'], { prompter: answering(true) })).toEqual({
      exit: 0,
      stdout: 'a\n',
      stderr: '',
    });
    expect(await states()).toEqual({});
  });

  it.each(['--force', '-f', '--yes', '-y'])('takes %s for an answer', async (flag) => {
    await make('a', 'b');
    expect(await line.run(['rm', 'a', 'b', flag])).toEqual({ exit: 0, stdout: 'a\nb\n', stderr: '' });
    expect(await states()).toEqual({});
  });

  it('finds a missing one an error, but not with --force', async () => {
    expect(await line.run(['rm', 'nope', '--yes'])).toMatchObject({ exit: 3, stdout: '' });
    expect(await line.run(['rm', 'nope', '--force'])).toEqual({ exit: 0, stdout: '', stderr: '' });
  });

  it('removes all with --all only, never because of SBX_ALL', async () => {
    await make('a', 'b');
    await line.run(['stop', 'b']);
    expect(await line.run(['rm', '--all'])).toMatchObject({ exit: 2 });
    expect(await line.run(['rm', '--yes'], { env: { SBX_ALL: '1', SBX_SANDBOX: 'b' } })).toMatchObject({
      exit: 0,
      stdout: 'b\n',
    });
    expect(await states()).toEqual({ a: 'running' });
    expect(await line.run(['rm', '--all', 'a'])).toMatchObject({ exit: 2 });
    expect(await line.run(['rm', '--all', '--yes'])).toEqual({ exit: 0, stdout: 'a\n', stderr: '' });
    expect(await line.run(['rm', '--all', '--yes'])).toEqual({ exit: 0, stdout: '', stderr: '' });
  });

  it('asks when the sandbox is not named', async () => {
    await make('a');
    await line.run(['stop', 'a']);
    const asking = answering(true);
    expect(await line.run(['rm'], { prompter: asking })).toMatchObject({ exit: 0, stdout: 'a\n' });
    expect(asking.asked).toEqual(["Remove sandbox 'a' with all files?"]);
  });
});

describe('wait', () => {
  it('ends with 0 once it holds, and prints nothing', async () => {
    await make('a');
    expect(await line.run(['wait', 'a', '--for', 'running'])).toEqual({ exit: 0, stdout: '', stderr: '' });
    const json = await line.run(['wait', 'a', '--for', 'running', '--json']);
    expect(JSON.parse(json.stdout)).toEqual({ name: 'a', backend: 'memory', condition: 'running' });
  });

  it('takes a removal for a stop', async () => {
    await make('b');
    const sandbox = await line.memory.get('b', call);
    const held = waitFor(sandbox, { kind: 'stopped' }, { having: () => [] }, call);
    await line.memory.destroy('b', { force: true }, call);
    await expect(held).resolves.toBeUndefined();
  });

  it('ends with 1 when the time is up, and 3 for what is not there', async () => {
    await make('a');
    const late = await line.run(['wait', 'a', '--timeout', '50ms']);
    expect(late).toEqual({
      exit: 1,
      stdout: '',
      stderr: "error: sandbox 'a': stopped did not come true within 0.05s\n",
    });
    expect(await line.run(['wait', 'nope'])).toMatchObject({ exit: 3 });
    expect(await line.run(['wait', 'a', '--for', 'process:nope'])).toMatchObject({ exit: 3 });
    expect(await line.run(['wait', 'a', '--for', 'port:0'])).toMatchObject({ exit: 2 });
  });

  it('waits for a process to end', async () => {
    await line.run(['create', 'a', '--', 'true']);
    expect(await line.run(['wait', 'a', '--for', 'process:main'])).toEqual({
      exit: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('waits for a port that listens', async () => {
    await make('a');
    const program =
      "const s = require('net').createServer().listen(0, '127.0.0.1', () => console.log(s.address().port))";
    const sandbox = await line.memory.get('a', call);
    const server = await sandbox.exec({ argv: [process.execPath, '-e', program], stdin: 'none' }, call);
    const [port] = (await once(server.stdout as Readable, 'data')) as [Buffer];
    expect(await line.run(['wait', 'a', '--for', `port:${String(port).trim()}`])).toEqual({
      exit: 0,
      stdout: '',
      stderr: '',
    });
    await server.terminate(0);
  });
});

describe('extend', () => {
  it('sets the time of expiry, also of the obvious one, and takes it away', async () => {
    await make('a');
    const before = Date.now();
    const { exit, stdout } = await line.run(['extend', 'a', '1h', '--json']);
    expect(exit).toBe(0);
    const { name, backend, expiresAt } = JSON.parse(stdout);
    expect({ name, backend }).toEqual({ name: 'a', backend: 'memory' });
    expect(Date.parse(expiresAt) - before).toBeGreaterThan(3_590_000);
    expect(await line.run(['extend', '30m', '-q'])).toMatchObject({ exit: 0, stdout: 'a\n' });
    const never = await line.run(['extend', 'a', '--never', '--json']);
    expect(JSON.parse(never.stdout)).toEqual({ name: 'a', backend: 'memory' });
  });

  it.each([[[]], [['a']], [['a', '0s']], [['a', '1h', '--never']], [['a', 'soon']]])(
    'refuses %j',
    async (argv) => {
      await make('a');
      expect(await line.run(['extend', ...argv])).toMatchObject({ exit: 2, stdout: '' });
    },
  );
});

describe('rename, fork, info, diff', () => {
  it('renames, and refuses a taken or bad name', async () => {
    await make('a', 'b');
    expect(await line.run(['rename', 'a', 'c'])).toEqual({ exit: 0, stdout: 'c\n', stderr: '' });
    expect(await line.run(['rename', 'b', 'c'])).toMatchObject({ exit: 1, stdout: '' });
    expect(await line.run(['rename', 'b', 'no/slash'])).toMatchObject({ exit: 2, stdout: '' });
    expect(await states()).toEqual({ b: 'running', c: 'running' });
  });

  it('forks under a given or a made-up name', async () => {
    await make('a');
    expect(await line.run(['fork', 'a', 'b'])).toEqual({ exit: 0, stdout: 'b\n', stderr: '' });
    const { stdout } = await line.run(['fork', 'a']);
    expect(stdout).toMatch(/^[a-z]+-[a-z]+-[a-z0-9]{2}\n$/);
    expect(Object.keys(await states()).sort()).toEqual(['a', 'b', stdout.trim()].sort());
    expect(await line.run(['fork', 'a', 'b'])).toMatchObject({ exit: 1 });
  });

  it('tells what is known and leaves out what is not', async () => {
    await line.run(['create', 'a', '-l', 'team=web', '-l', 'evil=\u001b[31m']);
    const text = await line.run(['info', 'a']);
    expect(text.exit).toBe(0);
    expect(text.stdout).toMatch(
      /^name: {4}a\nid: {6}[0-9a-f]+\nbackend: memory\nstate: {3}running\ncreated: /,
    );
    expect(text.stdout).toContain('team=web,evil=\\e[31m');
    expect(text.stdout).not.toContain('image');
    const json = JSON.parse((await line.run(['inspect', 'a', '--json'])).stdout);
    expect(json).toMatchObject({
      name: 'a',
      backend: 'memory',
      state: 'running',
      labels: { team: 'web', evil: '\u001b[31m' },
    });
    expect(json).not.toHaveProperty('image');
    const both = await line.run(['info', 'a', 'nope', '--json']);
    expect(both.exit).toBe(3);
    expect(JSON.parse(both.stdout)).toEqual([expect.objectContaining({ name: 'a' })]);
  });

  it('says that a backend cannot, and which can', async () => {
    await make('a');
    expect(await line.run(['diff', 'a'])).toMatchObject({
      exit: 5,
      stdout: '',
      stderr: expect.stringContaining("backend 'memory' does not support diff"),
    });
  });
});
