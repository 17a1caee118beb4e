/** Verbs that ask for what the command line does not say. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import Create from '../../src/commands/create.ts';
import Exec from '../../src/commands/exec.ts';
import Fork from '../../src/commands/fork.ts';
import Kill from '../../src/commands/kill.ts';
import Logs from '../../src/commands/logs.ts';
import Ls from '../../src/commands/ls.ts';
import Rename from '../../src/commands/rename.ts';
import Rm from '../../src/commands/rm.ts';
import SnapshotCreate from '../../src/commands/snapshot/create.ts';
import SnapshotInfo from '../../src/commands/snapshot/info.ts';
import SnapshotLs from '../../src/commands/snapshot/ls.ts';
import SnapshotRestore from '../../src/commands/snapshot/restore.ts';
import SnapshotRm from '../../src/commands/snapshot/rm.ts';
import type { Backend, CreateSpec } from '../../src/lib/backend/contract.ts';
import { createMemoryBackend, type MemoryBackend } from '../../src/lib/backends/memory/index.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';
import { leave, scripted } from '../support/scripted.ts';

const commands = {
  create: Create,
  exec: Exec,
  fork: Fork,
  kill: Kill,
  logs: Logs,
  ls: Ls,
  rename: Rename,
  rm: Rm,
  'snapshot:create': SnapshotCreate,
  'snapshot:info': SnapshotInfo,
  'snapshot:ls': SnapshotLs,
  'snapshot:restore': SnapshotRestore,
  'snapshot:rm': SnapshotRm,
};
const lines: CommandLine[] = [];
const memories: MemoryBackend[] = [];
let line: CommandLine;

beforeEach(() => {
  line = commandLine({ commands });
  lines.push(line);
});
afterAll(async () => {
  for (const each of lines) await each[Symbol.asyncDispose]();
  for (const each of memories) await each.dispose();
});

const make = async (...names: string[]) => {
  for (const name of names) expect((await line.run(['create', name])).exit).toBe(0);
};
const names = async () => (await line.run(['ls', '--all', '-q'])).stdout.trim().split('\n').sort();
const start = async (script: string) =>
  (await line.run(['exec', '-d', 'box', '--', 'sh', '-c', script])).stdout.trim();

describe('a sandbox that is not named', () => {
  test('is chosen among those that run, with what is known of them', async () => {
    await make('a', 'b');
    const prompter = scripted('b');
    const result = await line.run(['fork'], { prompter });
    expect(result).toMatchObject({ exit: 0, stderr: '' });
    expect(prompter.asked).toEqual([
      {
        message: 'Which sandbox?',
        flag: expect.stringContaining('sbx fork '),
        choices: expect.arrayContaining([expect.stringMatching(/^b: running, \d+s, memory$/)]),
      },
    ]);
    expect(await names()).toHaveLength(3);
  });

  test('may have gone when it is chosen', async () => {
    await make('a', 'b');
    const choosing = scripted('b');
    const prompter = {
      ...choosing,
      select: async <Value>(question: Parameters<typeof choosing.select<Value>>[0]) => {
        await line.run(['rm', '--force', 'b']);
        return choosing.select(question);
      },
    };
    expect(await line.run(['fork'], { prompter })).toEqual({
      exit: 3,
      stdout: '',
      stderr: "error: sandbox 'b' has been removed meanwhile\nhint: see what is there: sbx ls --all\n",
    });
  });

  test.each([
    [['fork']],
    [['rename']],
    [['kill']],
    [['snapshot', 'restore']],
    [['rm']],
    [['exec', '--', 'true']],
  ])('sbx %j without a terminal is exit 2 with the command', async (argv) => {
    await make('a', 'b');
    const { exit, stdout, stderr } = await line.run(argv);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toMatch(/^error: no sandbox is named and 2 are running/);
    const verb = argv.slice(0, argv[0] === 'snapshot' ? 2 : 1).join(' ');
    expect(stderr).toMatch(new RegExp(`\nhint: sbx ${verb} [ab]\\b`));
  });
});

test('Ctrl-C in a question is exit 130 without a word, and nothing is done', async () => {
  await make('a', 'b');
  for (const argv of [['fork'], ['rm'], ['rm', 'a'], ['create']]) {
    const prompter = scripted(leave);
    expect(await line.run(argv, { prompter })).toEqual({ exit: 130, stdout: '', stderr: '' });
    expect(prompter.asked).toHaveLength(1);
  }
  expect(await names()).toEqual(['a', 'b']);
});

describe('rename', () => {
  test('asks for the new name until it is one', async () => {
    await make('box');
    const prompter = scripted('bad name', 'web');
    expect(await line.run(['rename', 'box'], { prompter })).toEqual({ exit: 0, stdout: 'web\n', stderr: '' });
    expect(prompter.refused).toEqual([expect.stringContaining('the new name "bad name" is not allowed')]);
    expect(await line.run(['rename', 'web'])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('hint: sbx rename web NEW-NAME\n'),
    });
  });
});

describe('processes', () => {
  test('kill asks which of those that run, and says how to name one', async () => {
    await make('box');
    const ended = await start('exit 0');
    await line.run(['logs', 'box', '--process', ended, '-f']);
    const [one, two] = [await start('exec sleep 301'), await start('exec sleep 302')];
    expect(await line.run(['kill', 'box'])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('hint: sbx kill box PROCESS; see them: sbx ps box\n'),
    });
    const prompter = scripted(two);
    expect(await line.run(['kill', 'box'], { prompter })).toEqual({
      exit: 0,
      stdout: `${two}\n`,
      stderr: '',
    });
    const [question] = prompter.asked;
    expect(question?.choices).toHaveLength(2);
    expect(question?.choices).toContainEqual(
      expect.stringMatching(new RegExp(`^${one}: running, \\d+s, sh -c 'exec sleep 301'$`)),
    );
  });

  test('logs asks which of several when there is no main one', async () => {
    await make('box');
    const [one] = [await start('echo one; exec sleep 303'), await start('echo two; exec sleep 304')];
    expect(await line.run(['logs', 'box'])).toMatchObject({ exit: 2 });
    await expect
      .poll(async () => (await line.run(['logs', 'box'], { prompter: scripted(one) })).stdout)
      .toBe('one\n');
  });
});

describe('snapshots', () => {
  let id: string;
  beforeEach(async () => {
    await make('box');
    id = (await line.run(['snapshot', 'create', 'box', '--name', 'before'])).stdout.trim();
  });

  test('info, restore and rm let choose', async () => {
    const info = await line.run(['snapshot', 'info', '-q'], { prompter: scripted('before') });
    expect(info.stdout).toBe(`${id}\n`);
    const restoring = scripted('before', true);
    expect(await line.run(['snapshot', 'restore'], { prompter: restoring })).toMatchObject({
      exit: 0,
      stdout: 'box\n',
    });
    expect(restoring.asked.map(({ message }) => message)).toEqual([
      'Which snapshot?',
      `Replace all files of sandbox 'box' by those of snapshot '${id}'?`,
    ]);
    expect(restoring.asked[0]?.choices).toEqual([
      expect.stringMatching(new RegExp(`^before: ${id}, \\d+s, of box(, \\S+)?, memory$`)),
    ]);
    const removing = scripted('before', true);
    expect(await line.run(['snapshot', 'rm'], { prompter: removing })).toMatchObject({ exit: 0 });
    expect((await line.run(['snapshot', 'ls', '-q'])).stdout).toBe('');
    const none = scripted();
    expect(await line.run(['snapshot', 'rm'], { prompter: none })).toMatchObject({
      exit: 3,
      stderr: 'error: there is no snapshot\nhint: take one: sbx snapshot create SANDBOX\n',
    });
  });

  test('nothing is removed when the answer is no', async () => {
    const prompter = scripted('before', false);
    expect(await line.run(['snapshot', 'rm'], { prompter })).toMatchObject({
      exit: 1,
      stderr: 'error: nothing was removed\n',
    });
    expect((await line.run(['snapshot', 'ls', '-q'])).stdout).toBe(`${id}\n`);
  });

  test.each([
    [['snapshot', 'rm'], 'sbx snapshot rm SNAPSHOT; see them: sbx snapshot ls'],
    [['snapshot', 'info'], 'sbx snapshot info SNAPSHOT; see them: sbx snapshot ls'],
    [['snapshot', 'restore', 'box'], 'sbx snapshot restore box SNAPSHOT; see them: sbx snapshot ls'],
    [['snapshot', 'rm', 'before'], 'add --yes: sbx snapshot rm before --yes'],
    [['snapshot', 'restore', 'box', 'x'], 'add --yes: sbx snapshot restore box x --yes'],
  ])('%j without a terminal is exit 2: %s', async (argv, hint) => {
    const { exit, stdout, stderr } = await line.run(argv);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(`hint: ${hint}\n`);
  });
});

describe('sbx create with nothing given', () => {
  let made: { spec: CreateSpec; backend: string }[];

  /** The memory backend under another name, as one that honours these options. */
  function wide(name: string, ...options: Backend['manifest']['createOptions']): Backend {
    const memory = createMemoryBackend({ name });
    memories.push(memory);
    const manifest = { ...memory.manifest, plainSource: 'thin air', createOptions: options };
    return {
      ...memory,
      manifest,
      create(spec, call, fill) {
        made.push({ spec, backend: name });
        const { env, labels } = spec;
        return memory.create({ name: spec.name, env, labels, limits: {} }, call, fill);
      },
    };
  }

  beforeEach(() => {
    made = [];
    line = commandLine({
      commands,
      backends: [wide('wide', 'name', 'image', 'rootfs', 'limits', 'network', 'labels'), wide('narrow')],
    });
    lines.push(line);
  });

  const create = (prompter: ReturnType<typeof scripted>) => line.run(['create'], { prompter });

  test('asks what the backend honours, shows the command and runs exactly that', async () => {
    const prompter = scripted(
      'wide',
      'an image or template',
      ' ',
      "deb'ian:12",
      '2 CPUs, 4 GB',
      'none',
      'box',
      'run it',
    );
    const result = await create(prompter);
    expect(result).toEqual({ exit: 0, stdout: 'box\n', stderr: '' });
    expect(prompter.asked.at(-1)?.message).toBe(
      "The command is: sbx create box --backend wide --image 'deb'\\''ian:12' --size 2vcpu-4gb --network none",
    );
    expect(prompter.asked[1]?.choices?.[0]).toBe('thin air');
    expect(prompter.refused).toEqual(['it is empty']);
    expect(made).toMatchObject([
      {
        backend: 'wide',
        spec: {
          name: 'box',
          image: "deb'ian:12",
          limits: { cpus: 2, memory: 4 * 1024 ** 3 },
          network: 'none',
        },
      },
    ]);
  });

  test('asks nothing that the backend would refuse', async () => {
    const prompter = scripted('narrow', 'run it');
    expect(await create(prompter)).toMatchObject({ exit: 0 });
    expect(prompter.asked.map(({ message }) => message)).toEqual([
      'Which backend?',
      'The command is: sbx create --backend narrow',
    ]);
    expect(made[0]?.spec).toMatchObject({ image: undefined, limits: {} });
    expect(made[0]?.spec.network).toBeUndefined();
  });

  test('asks also with flags that only say how it is to look', async () => {
    const prompter = scripted('memory', 'box', 'run it');
    expect(await line.run(['create', '--no-color', '--debug'], { prompter })).toMatchObject({ exit: 0 });
    expect(prompter.asked).toHaveLength(3);
  });

  test('with all defaults it says how not to be asked', async () => {
    const prompter = scripted('memory', '', 'run it');
    const { exit, stdout } = await create(prompter);
    expect(exit).toBe(0);
    expect(prompter.asked.at(-1)?.message).toBe('The command is: sbx create --yes');
    expect(await names()).toEqual([stdout.trim()]);
    expect(await line.run(['create', '--yes'], { prompter: scripted() })).toMatchObject({ exit: 0 });
  });

  test('the command can be changed until it is one, and cancelled', async () => {
    const prompter = scripted(
      ...['memory', 'box', 'change it'],
      ...[
        'rm box',
        'sbx create $HOME',
        'sbx create box --bogus',
        "sbx create box 'a",
        'sbx create web -l "a=b c"',
      ],
      ...['change it', 'sbx create web -l "a=b d"', 'run it'],
    );
    expect(await create(prompter)).toEqual({ exit: 0, stdout: 'web\n', stderr: '' });
    expect(prompter.refused).toEqual([
      'it has to begin with: sbx create',
      'no shell reads this line: $ has to stand in single quotes',
      expect.stringContaining('unknown flag --bogus'),
      'a quote is not closed, or the line ends in \\',
    ]);
    expect(prompter.asked.at(-1)?.message).toBe("The command is: sbx create web -l 'a=b d'");
    const cancelling = scripted('memory', 'other', 'cancel');
    expect(await create(cancelling)).toEqual({
      exit: 1,
      stdout: '',
      stderr: 'error: nothing was created\n',
    });
    expect(await names()).toEqual(['web']);
  });

  test('a name that is taken or no name is told at once', async () => {
    await make('box');
    const prompter = scripted('memory', 'box', '-x', 'web', 'run it');
    expect(await create(prompter)).toMatchObject({ exit: 0, stdout: 'web\n' });
    expect(prompter.refused).toEqual([
      "there is a sandbox 'box' already",
      expect.stringContaining('the sandbox\'s name "-x" is not allowed'),
    ]);
  });

  test('a snapshot is offered where there is one, and a folder has to be there', async () => {
    await make('box');
    await line.run(['snapshot', 'create', 'box', '--name', 'before']);
    const prompter = scripted('memory', 'a snapshot', 'before', 'copy', 'run it');
    expect(await create(prompter)).toMatchObject({ exit: 0, stdout: 'copy\n' });
    expect(prompter.asked.at(-1)?.message).toBe('The command is: sbx create copy --from before');
    mkdirSync(join(line.folder, 'root'));
    const rootfs = scripted(
      ...['wide', 'a directory or tar archive on this machine', 'nowhere', '~/root'],
      ...["the backend's default", "the backend's default", 'rooted', 'run it'],
    );
    expect(await create(rootfs)).toMatchObject({ exit: 0 });
    expect(rootfs.refused).toEqual(['there is nothing of that name']);
    expect(made.at(-1)?.spec.rootfs).toBe(join(line.folder, 'root'));
  });

  test.each([
    [['create', 'box']],
    [['create', '--json']],
    [['create', '-q']],
    [['create', '--label', 'a=b']],
    [['create', '--', 'sleep', '300']],
  ])('%j asks nothing', async (argv) => {
    expect(await line.run(argv, { prompter: scripted() })).toMatchObject({ exit: 0 });
  });
});
