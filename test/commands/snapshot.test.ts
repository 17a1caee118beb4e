import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import Create from '../../src/commands/create.ts';
import SnapshotCreate from '../../src/commands/snapshot/create.ts';
import SnapshotInfo from '../../src/commands/snapshot/info.ts';
import SnapshotLs from '../../src/commands/snapshot/ls.ts';
import SnapshotRestore from '../../src/commands/snapshot/restore.ts';
import SnapshotRm from '../../src/commands/snapshot/rm.ts';
import { answering, type CommandLine, commandLine, unreachableBackend } from '../support/command-line.ts';

const call = { signal: new AbortController().signal };
const commands = {
  create: Create,
  'snapshot:create': SnapshotCreate,
  'snapshot:info': SnapshotInfo,
  'snapshot:ls': SnapshotLs,
  'snapshot:restore': SnapshotRestore,
  'snapshot:rm': SnapshotRm,
};
const lines: CommandLine[] = [];
let line: CommandLine;

beforeEach(async () => {
  line = commandLine({ commands });
  lines.push(line);
  await line.run(['create', 'box']);
});
afterAll(async () => {
  for (const each of lines) await each[Symbol.asyncDispose]();
});

async function inside(name: string, script: string): Promise<string> {
  const running = await (await line.memory.get(name, call)).exec(
    { argv: ['sh', '-c', script], stdin: 'none' },
    call,
  );
  let out = '';
  for await (const data of running.stdout ?? []) out += String(data);
  await running.wait();
  return out;
}

describe('sbx snapshot', () => {
  it('prints the id alone, and create --from starts from its files', async () => {
    await inside('box', 'echo old >file');
    const { exit, stdout, stderr } = await line.run([
      'snapshot',
      'create',
      'box',
      '--name',
      'before',
      '-l',
      'why=test',
    ]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(/^\S+\n$/);
    await inside('box', 'echo new >file');
    expect(await line.run(['create', 'copy', '--from', stdout.trim()])).toMatchObject({ exit: 0 });
    expect(await inside('copy', 'cat file')).toBe('old\n');
    expect(await inside('box', 'cat file')).toBe('new\n');
  });

  it('lists, tells and finds them by name', async () => {
    const id = (await line.run(['snapshot', 'create', '--name', 'before', '-l', 'why=test'])).stdout.trim();
    expect((await line.run(['snapshot', 'ls', '-q'])).stdout).toBe(`${id}\n`);
    const [row] = JSON.parse((await line.run(['snapshot', 'list', '--json'])).stdout);
    expect(row).toMatchObject({
      id,
      name: 'before',
      backend: 'memory',
      sandbox: 'box',
      labels: { why: 'test' },
    });
    expect(JSON.parse((await line.run(['snapshot', 'info', 'before', '--json'])).stdout)).toMatchObject({
      id,
      name: 'before',
    });
    expect(await line.run(['snapshot', 'info', 'memory/nope'])).toMatchObject({ exit: 3, stdout: '' });
  });

  it('restores after a question that --yes answers', async () => {
    await inside('box', 'echo old >file');
    await line.run(['snapshot', 'create', 'box', '--name', 'before']);
    await inside('box', 'echo new >file');
    expect(await line.run(['snapshot', 'restore', 'box', 'before'])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('add --yes'),
    });
    expect(
      await line.run(['snapshot', 'restore', 'box', 'before'], { prompter: answering(false) }),
    ).toMatchObject({ exit: 1 });
    expect(await inside('box', 'cat file')).toBe('new\n');
    expect(await line.run(['snapshot', 'restore', 'box', 'before', '-y'])).toEqual({
      exit: 0,
      stdout: 'box\n',
      stderr: '',
    });
    expect(await inside('box', 'cat file')).toBe('old\n');
  });

  it('removes many, and says which were not there', async () => {
    const id = (await line.run(['snapshot', 'create', 'box'])).stdout.trim();
    expect(await line.run(['snapshot', 'rm', id])).toMatchObject({ exit: 2 });
    const result = await line.run(['snapshot', 'rm', id, 'nope', '--yes']);
    expect(result).toMatchObject({ exit: 3, stdout: `${id}\n` });
    expect(result.stderr).toContain('error: nope: ');
    expect((await line.run(['snapshot', 'ls', '-q'])).stdout).toBe('');
  });

  it('refuses a bad name and a bad label before it does anything', async () => {
    expect(await line.run(['snapshot', 'create', 'box', '--name', 'a b'])).toMatchObject({ exit: 2 });
    expect(await line.run(['snapshot', 'create', 'box', '--label', '=x'])).toMatchObject({ exit: 2 });
    expect((await line.run(['snapshot', 'ls', '-q'])).stdout).toBe('');
  });

  it('lists the others when a backend does not answer', async () => {
    const far = unreachableBackend('far');
    const store = far.can.snapshots;
    if (store === undefined) throw new Error('no snapshots');
    const broken = {
      ...far,
      can: {
        snapshots: {
          ...store,
          // biome-ignore lint/correctness/useYield: it fails before it has anything
          async *list() {
            await far.get('x', call);
          },
        },
      },
    };
    const two = commandLine({ commands, backends: [broken] });
    lines.push(two);
    await two.run(['create', 'box']);
    const id = (await two.run(['snapshot', 'create', 'box'])).stdout;
    expect(await two.run(['snapshot', 'ls', '-q'])).toEqual({
      exit: 6,
      stdout: id,
      stderr: "warning: backend 'far' is missing from the list: backend 'far' does not answer\n",
    });
  });
});
