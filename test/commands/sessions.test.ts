import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Exec from '../../src/commands/exec.ts';
import SessionsCreate from '../../src/commands/sessions/create.ts';
import SessionsCommand from '../../src/commands/sessions/index.ts';
import SessionsInstall from '../../src/commands/sessions/install.ts';
import SessionsKill from '../../src/commands/sessions/kill.ts';
import SessionsRename from '../../src/commands/sessions/rename.ts';
import type { SessionInfo } from '../../src/lib/backend/contract.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';

const call = { signal: new AbortController().signal };
let sbx: CommandLine;

beforeEach(async () => {
  sbx = commandLine({
    commands: {
      exec: Exec,
      sessions: SessionsCommand,
      'sessions:create': SessionsCreate,
      'sessions:install': SessionsInstall,
      'sessions:kill': SessionsKill,
      'sessions:rename': SessionsRename,
    },
  });
  await sbx.memory.create({ name: 'box', env: { SHELL: '/bin/sh' }, labels: {}, limits: {} }, call);
});
afterEach(async () => {
  await sbx[Symbol.asyncDispose]();
});

async function sessions(...flags: string[]): Promise<SessionInfo[]> {
  const { stdout, exit } = await sbx.run(['sessions', 'box', '--json', ...flags]);
  expect(exit).toBe(0);
  return JSON.parse(stdout) as SessionInfo[];
}

async function create(...words: string[]) {
  const made = await sbx.run(['sessions', 'create', 'box', ...words]);
  expect(made).toMatchObject({ exit: 0 });
  return made;
}

describe('sessions', () => {
  it('shows what runs, and with --all what has ended', async () => {
    expect((await create('web', '--workdir', '/usr', '--', 'sleep', '1000')).stdout).toBe('web\n');
    await create('done', '--', 'sh', '-c', 'exit 3');
    while ((await sessions('--all')).some(({ name, state }) => name === 'done' && state === 'running'));
    const { stdout } = await sbx.run(['sessions', 'box']);
    expect(stdout.split('\n')[0]?.split(/ +/)).toEqual([
      'NAME',
      'STATE',
      'ATTACHED',
      'AGE',
      'COMMAND',
      'CWD',
      'SIZE',
    ]);
    expect(stdout).toMatch(/\nweb +running +no +\d+s +sleep 1000 +\/usr +80x24\n$/);
    expect((await sbx.run(['sessions', 'box', '--all'])).stdout).toMatch(/\ndone +ended \(3\) +- /);
    expect(await sessions()).toMatchObject([{ name: 'web', attached: false, size: { cols: 80, rows: 24 } }]);
  });

  it('shows hostile commands harmless', async () => {
    await create('web', '--', 'sh', '-c', 'sleep 1000; : "$1"', 'sh', '\x1b]0;owned\x07');
    const { stdout } = await sbx.run(['sessions', 'box']);
    expect(stdout).not.toContain('\x1b');
  });
});

describe('sessions create', () => {
  it('passes on environment and TERM, and words behind -- untouched', async () => {
    await create('web', '-e', 'A=b c', '--', 'sh', '-c', 'exec sleep 1000', '--json', '-e');
    const { stdout } = await sbx.run(['exec', '--session', 'web', 'box', '--', 'sh', '-c', 'echo "$A"']);
    expect(stdout).toBe('b c\n');
  });

  it.each([
    [['box', '../x'], 2],
    [['box'], 2],
    [['box', 'x', '--', ''], 2],
    [['nope', 'x'], 3],
  ] as const)('%j: exit %i', async (words, exit) => {
    expect(await sbx.run(['sessions', 'create', ...words])).toMatchObject({ exit, stdout: '' });
  });

  it('refuses a name that is taken', async () => {
    await create('web', '--', 'sleep', '1000');
    const { exit, stderr } = await sbx.run(['sessions', 'create', 'box', 'web']);
    expect(exit).toBe(1);
    expect(stderr).toContain('sbx shell box --session web');
  });
});

describe('sessions kill and rename', () => {
  it('end and rename, and say so', async () => {
    await create('one', '--', 'sleep', '1000');
    expect(await sbx.run(['sessions', 'rename', 'box', 'one', 'two'])).toMatchObject({
      exit: 0,
      stdout: 'two\n',
    });
    const killed = await sbx.run(['sessions', 'kill', 'box', 'two', 'nope']);
    expect(killed).toMatchObject({ exit: 3, stdout: 'two\n' });
    expect(killed.stderr).toContain("no session 'nope'");
    expect(await sessions('--all')).toMatchObject([{ name: 'two', state: 'ended', exit: { signal: 'HUP' } }]);
    const forgotten = await sbx.run(['sessions', 'kill', 'box', 'two', '--json']);
    expect(JSON.parse(forgotten.stdout)).toMatchObject([{ name: 'two', done: 'ended' }]);
    expect(await sessions('--all')).toEqual([]);
  });

  it('ask for what is missing, or say how to give it', async () => {
    await create('one', '--', 'sleep', '1000');
    const { exit, stderr } = await sbx.run(['sessions', 'kill', 'box']);
    expect(exit).toBe(2);
    expect(stderr).toContain('sbx sessions kill box SESSION');
    expect(await sbx.run(['sessions', 'rename', 'box', 'one'])).toMatchObject({ exit: 2 });
  });
});

describe('sessions install', () => {
  it('does nothing where dtach is there', async () => {
    expect(await sbx.run(['sessions', 'install', 'box'])).toMatchObject({ exit: 0, stdout: 'present\n' });
    const { stdout } = await sbx.run(['sessions', 'install', 'box', '--json']);
    expect(JSON.parse(stdout)).toEqual({ tool: 'dtach', sandbox: 'box', done: 'present' });
  });
});

describe('exec --session', () => {
  it('runs where the session is; what is said wins', async () => {
    await create('web', '-e', 'A=theirs', '-e', 'B=theirs', '--workdir', '/usr', '--', 'sleep', '1000');
    const script = 'pwd; echo $A $B $SBX_SESSION $SBX_SESSION_ID';
    const inside = await sbx.run([
      'exec',
      '--session',
      'web',
      '-e',
      'B=mine',
      'box',
      '--',
      'sh',
      '-c',
      script,
    ]);
    expect(inside.stdout).toBe('/usr\ntheirs mine web\n');
    const moved = await sbx.run(['exec', '--session', 'web', '-w', 'bin', 'box', '--', 'pwd', '-P']);
    expect(moved.stdout).toBe('/usr/bin\n');
    const other = await sbx.run(['exec', '--session', 'web', '-w', '/', 'box', '--', 'pwd']);
    expect(other.stdout).toBe('/\n');
  });

  it('needs a session that runs', async () => {
    expect(await sbx.run(['exec', '--session', 'nope', 'box', '--', 'true'])).toMatchObject({ exit: 125 });
  });
});
