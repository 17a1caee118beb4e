import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import Create from '../../src/commands/create.ts';
import { SignalHub } from '../../src/lib/cli/signals.ts';
import type { CommandLine, RunResult } from '../support/command-line.ts';
import { commandLine } from '../support/command-line.ts';
import { clockWith, hasty } from '../support/later.ts';

const call = { signal: new AbortController().signal };
const lines: CommandLine[] = [];
let line: CommandLine;

beforeEach(() => {
  line = commandLine({ commands: { create: Create } });
  lines.push(line);
});
afterAll(async () => {
  for (const each of lines) await each[Symbol.asyncDispose]();
});

async function names(): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of line.memory.list({ all: true }, call)) found.push(name);
  return found.sort();
}

async function inside(name: string, script: string): Promise<string> {
  const sandbox = await line.memory.get(name, call);
  const running = await sandbox.exec({ argv: ['sh', '-c', script], stdin: 'none' }, call);
  let out = '';
  for await (const data of running.stdout ?? []) out += String(data);
  await running.wait();
  return out;
}

function git(folder: string, ...args: string[]): string {
  const env = { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  const identity = [
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@b',
    '-c',
    'init.defaultBranch=main',
    '-c',
    'commit.gpgsign=false',
  ];
  return execFileSync('git', [...identity, '-C', folder, ...args], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}

/** main: two commits, tag v1 on the first; branch topic; an unrelated uncommitted file. */
function makeRepo(name = 'project'): string {
  const folder = join(line.folder, name);
  mkdirSync(folder);
  git(folder, 'init', '-q');
  writeFileSync(join(folder, 'a.txt'), 'one\n');
  git(folder, 'add', '.');
  git(folder, 'commit', '-qm', 'first');
  git(folder, 'tag', 'v1');
  git(folder, 'checkout', '-qb', 'topic');
  writeFileSync(join(folder, 'topic.txt'), 'topic\n');
  git(folder, 'add', '.');
  git(folder, 'commit', '-qm', 'topic');
  git(folder, 'checkout', '-q', 'main');
  writeFileSync(join(folder, 'a.txt'), 'two\n');
  git(folder, 'commit', '-qam', 'second');
  writeFileSync(join(folder, 'uncommitted.txt'), 'x');
  return folder;
}

describe('sbx create', () => {
  it('prints the given name, and nothing else', async () => {
    expect(await line.run(['create', 'box'])).toEqual({ exit: 0, stdout: 'box\n', stderr: '' });
    expect(await names()).toEqual(['box']);
  });

  it('makes up a readable name', async () => {
    const { exit, stdout } = await line.run(['create']);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^[a-z]+-[a-z]+-[a-z0-9]{2}\n$/);
    expect(await names()).toEqual([stdout.trim()]);
  });

  it('takes BACKEND/NAME, and refuses one that --backend contradicts', async () => {
    expect((await line.run(['create', 'memory/box'])).stdout).toBe('box\n');
    expect(await line.run(['create', 'memory/other', '--backend', 'elsewhere'])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("'memory/other' is not on backend 'elsewhere'"),
    });
  });

  it('prints one object with --json', async () => {
    const { exit, stdout } = await line.run(['create', 'box', '--json', '-l', 'team=web', '-l', 'solo']);
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      name: 'box',
      backend: 'memory',
      state: 'running',
      labels: { team: 'web', solo: '' },
    });
  });

  it('gives environment from files, the own environment and the command line, the last one winning', async () => {
    writeFileSync(join(line.folder, 'env'), 'A=file\nB=file\n');
    const { exit } = await line.run(
      ['create', 'box', '--env-file', 'env', '-e', 'A=flag', '-e', 'MINE', '-e', 'GONE'],
      {
        env: { MINE: 'own' },
      },
    );
    expect(exit).toBe(0);
    expect(await inside('box', 'echo "$A $B $MINE $GONE."')).toBe('flag file own .\n');
  });

  it('says what is wrong: a taken name, options that are not honoured', async () => {
    await line.run(['create', 'box']);
    expect(await line.run(['create', 'box'])).toMatchObject({
      exit: 1,
      stdout: '',
      stderr: expect.stringContaining("'box' exists already"),
    });
    const refused = await line.run([
      'create',
      'other',
      '--image',
      'debian',
      '--size',
      '2vcpu-4gb',
      '--network',
      'none',
    ]);
    expect(refused).toMatchObject({ exit: 5, stdout: '' });
    expect(refused.stderr).toContain("backend 'memory' (memory) cannot honour --image, --size, --network\n");
    expect(await names()).toEqual(['box']);
  });

  it.each([
    [['--bad'], /unknown flag --bad/],
    [['a b'], /the sandbox's name "a b" is not allowed/],
    [['x'.repeat(64)], /not allowed/],
    [['box', '--label', '=x'], /the label "" is not allowed/],
    [['box', '--env', '1A=x'], /environment variable 1 has no valid name/],
    [['box', '--workdir', 'relative'], /the workdir "relative" is not absolute/],
    [['box', '--cpus', '0'], /--cpus "0" is not a positive number/],
    [['box', '--memory', 'much'], /--memory: not a size: much/],
    [['box', '--memory', '0'], /memory must be a positive whole number/],
    [['box', '--memory', '10'], /memory must be at least 6m/],
    [['box', '--pids', '1.5'], /pids must be a positive whole number/],
    [['box', '--size', 'large'], /--size "large" is not a size/],
    [['box', '--ttl', '10ms'], /the ttl must be at least 1s/],
    [['box', '--port', '70000'], /--port "70000" is not a port/],
    [['box', '--hostname', '-x-'], /the hostname "-x-" is not allowed/],
    [['box', '--user', 'a b'], /the user "a b" is not allowed/],
    [['box', '--network', 'a b'], /the network "a b" is not allowed/],
    [['box', '--volume', 'here'], /--volume "here" is not SRC:DST/],
    [['box', '--volume', 'data:relative'], /"relative" is no place for a volume/],
    [['box', '--volume', '-x:/data'], /"-x" is neither an absolute path nor the name of a volume/],
    [['box', '--image', 'a', '--from', 'b'], /--from/],
    [['box', '--wait', 'rain'], /--wait "rain" is nothing to wait for/],
    [['box', '--env-file', 'nowhere'], /cannot read the env file "nowhere": there is no such file/],
    [['--if-not-exists'], /--if-not-exists needs a name/],
    [['box', 'ls'], /unexpected argument/i],
  ])('refuses %j with exit 2', async (argv, message) => {
    const result = await line.run(['create', ...argv]);
    expect(result).toMatchObject({ exit: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
    expect(await names()).toEqual([]);
  });
});

describe('sbx create --setup', () => {
  it('runs the commands in order in the workdir, their output on stderr, and then the main command', async () => {
    const log = join(line.folder, 'log');
    const result = await line.run([
      'create',
      'box',
      '-e',
      `LOG=${log}`,
      '--setup',
      'echo one; echo 1 >>"$LOG"',
      '--setup',
      'echo two >&2; echo 2 >>"$LOG"; pwd >where',
      '--wait',
      'process:main',
      '--',
      'sh',
      '-c',
      'echo 3 >>"$LOG"',
      'an argument',
    ]);
    expect(result).toMatchObject({ exit: 0, stdout: 'box\n' });
    expect(result.stderr).toBe(
      'setup: echo one; echo 1 >>"$LOG"\none\nsetup: echo two >&2; echo 2 >>"$LOG"; pwd >where\ntwo\n',
    );
    expect(readFileSync(log, 'utf8')).toBe('1\n2\n3\n');
    const info = await (await line.memory.get('box', call)).info(call);
    expect(info.command).toEqual(['sh', '-c', 'echo 3 >>"$LOG"', 'an argument']);
  });

  it('removes the sandbox and tells the exit code when one fails', async () => {
    const result = await line.run(['create', 'box', '--setup', 'echo why; exit 3', '--setup', 'echo never']);
    expect(result).toMatchObject({ exit: 1, stdout: '' });
    expect(result.stderr).toBe(
      'setup: echo why; exit 3\nwhy\nerror: the setup command "echo why; exit 3" ended with exit code 3; the sandbox was removed again\n',
    );
    expect(await names()).toEqual([]);
  });

  it('removes the sandbox on Ctrl-C', async () => {
    const signals = new SignalHub();
    const running = line.run(['create', 'box', '--setup', 'echo ready; sleep 1000'], {
      signals,
      watch({ stderr }) {
        const write = stderr.write.bind(stderr);
        stderr.write = (data) => {
          write(data);
          if (stderr.text.includes('\nready\n')) signals.deliver('SIGINT');
        };
      },
    });
    expect(await running).toMatchObject({ exit: 130, stdout: '' });
    expect(await names()).toEqual([]);
  });
});

describe('sbx create --wait', () => {
  it('waits for a port, and shows the log of the main command when it never comes', async () => {
    const result = await line.run([
      'create',
      'box',
      '--wait',
      'port:1',
      '--wait-timeout',
      '200ms',
      '--',
      'sh',
      '-c',
      'echo cannot start',
    ]);
    expect(result.exit).toBe(1);
    expect(result.stdout).toBe('');
    expect(result.stderr).toContain('waiting for port 1\n');
    expect(result.stderr).toContain('the last output of the main command:\ncannot start\n');
    expect(result.stderr).toContain(
      "sandbox 'box': port:1 did not come true within 0.2s; the sandbox was removed again",
    );
    expect(await names()).toEqual([]);
  });
});

describe('sbx create --if-not-exists', () => {
  it('uses the one that is there, starts it, and runs no setup', async () => {
    await line.run(['create', 'box']);
    const sandbox = await line.memory.get('box', call);
    await sandbox.can.power?.stop({ graceMs: 0 }, call);
    const result = await line.run(['create', 'box', '--if-not-exists', '--setup', 'exit 1']);
    expect(result).toEqual({
      exit: 0,
      stdout: 'box\n',
      stderr: "sandbox 'box' is there already; it was left as it is\n",
    });
    expect((await sandbox.info(call)).state).toBe('running');
    expect(await names()).toEqual(['box']);
  });

  it('makes it when it is not there', async () => {
    expect(await line.run(['create', 'box', '--if-not-exists'])).toEqual({
      exit: 0,
      stdout: 'box\n',
      stderr: '',
    });
  });
});

describe('sbx create --repo', () => {
  const clone = (url: string, ...more: string[]): Promise<RunResult> =>
    line.run(['create', 'box', '--repo', url, ...more]);
  const state = () =>
    inside(
      'box',
      'git symbolic-ref -q --short HEAD || echo detached; cat a.txt; ls; git remote get-url origin; git status --porcelain',
    );

  it('clones a path of this machine into the workdir, on its branch, without what is not committed', async () => {
    const repo = makeRepo();
    const result = await clone(repo);
    expect(result).toEqual({ exit: 0, stdout: 'box\n', stderr: '' });
    expect(await state()).toBe(`main\ntwo\na.txt\n${repo}\n`);
    expect(
      await inside('box', 'git branch -r; git tag; git rev-parse --abbrev-ref @{u}; ls .git/sbx.bundle 2>&1'),
    ).toContain('  origin/main\n  origin/topic\nv1\norigin/main\n');
  });

  it.each([
    ['#topic', 'topic\none\na.txt\ntopic.txt\n'],
    ['#v1', 'detached\none\na.txt\n'],
  ])('checks out a branch or a tag: %s', async (ref, expected) => {
    makeRepo();
    expect(await clone(`./project${ref}`)).toMatchObject({ exit: 0 });
    expect(await state()).toBe(`${expected}./project\n`);
  });

  it('checks out a commit, from a bare repository and a file URL', async () => {
    const repo = makeRepo();
    const first = git(repo, 'rev-parse', 'v1');
    git(line.folder, 'clone', '-q', '--bare', repo, 'bare.git');
    expect(await clone(`file://${line.folder}/bare.git#${first.slice(0, 10)}`)).toMatchObject({ exit: 0 });
    expect(await state()).toBe(`detached\none\na.txt\nfile://${line.folder}/bare.git\n`);
  });

  it('takes a shallow repository with a detached HEAD, as CI checks out', async () => {
    const repo = makeRepo();
    mkdirSync(join(line.folder, 'ci'));
    git(join(line.folder, 'ci'), 'init', '-q');
    git(
      join(line.folder, 'ci'),
      'fetch',
      '-q',
      '--depth=1',
      `file://${repo}`,
      'main:refs/remotes/pull/1/merge',
    );
    git(join(line.folder, 'ci'), 'checkout', '-q', '--detach', 'refs/remotes/pull/1/merge');
    const result = await clone('ci');
    expect(result).toEqual({ exit: 0, stdout: 'box\n', stderr: '' });
    expect(await state()).toBe('detached\ntwo\na.txt\nci\n');
    expect(await inside('box', 'git log --oneline | wc -l')).toMatch(/^\s*1\n$/);
  });

  it('is there before the setup and the main command', async () => {
    makeRepo();
    const result = await clone(
      'project',
      '--setup',
      'cat a.txt',
      '--wait',
      'process:main',
      '--',
      'sh',
      '-c',
      'cp a.txt copy',
    );
    expect(result).toMatchObject({ exit: 0, stderr: 'setup: cat a.txt\ntwo\n' });
    expect(await inside('box', 'cat copy')).toBe('two\n');
  });

  it('refuses what is no repository, has no commit or not that one, before anything is made', async () => {
    const repo = makeRepo();
    mkdirSync(join(line.folder, 'empty'));
    git(join(line.folder, 'empty'), 'init', '-q');
    expect(await clone('nowhere')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("--repo 'nowhere' is no git repository"),
    });
    expect(await clone('empty')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("--repo 'empty' has no commit yet"),
    });
    expect(await clone('project#nope')).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("has no branch, tag or commit 'nope'"),
    });
    git(repo, 'checkout', '-q', '--detach');
    git(repo, 'commit', '-q', '--allow-empty', '-m', 'lost');
    const lost = git(repo, 'rev-parse', 'HEAD');
    git(repo, 'checkout', '-q', 'main');
    expect(await clone(`project#${lost}`)).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('is on no branch and no tag'),
    });
    expect(await clone('ext::sh -c id')).toMatchObject({ exit: 2 });
    expect(await names()).toEqual([]);
  });

  it('clones over HTTP with the user name and password of the URL, and keeps neither', async () => {
    const repo = makeRepo();
    git(line.folder, 'clone', '-q', '--bare', repo, 'web.git');
    git(join(line.folder, 'web.git'), 'update-server-info');
    const allowed = `Basic ${Buffer.from('me:s3cr%et').toString('base64')}`;
    const server = createServer((request, response) => {
      if (request.headers.authorization !== allowed) {
        return response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
      }
      try {
        return response.end(readFileSync(join(line.folder, new URL(request.url ?? '', 'http://x').pathname)));
      } catch {
        return response.writeHead(404).end();
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const result = await line.run(
        ['create', 'box', '--repo', `http://me:s3cr%25et@127.0.0.1:${port}/web.git#topic`],
        { clock: clockWith(hasty) },
      );
      expect(result).toMatchObject({ exit: 0, stdout: 'box\n' });
      expect(result.stderr).toContain(`cloning http://127.0.0.1:${port}/web.git\n`);
      expect(result.stderr).not.toContain('s3cr');
      expect(await state()).toBe(`topic\none\na.txt\ntopic.txt\nhttp://127.0.0.1:${port}/web.git\n`);
      expect(await inside('box', 'grep -rl s3cr . || echo clean')).toBe('clean\n');
      expect(
        await line.run(['create', 'denied', '--repo', `http://me:wr0ng@127.0.0.1:${port}/web.git`]),
      ).toMatchObject({
        exit: 1,
        stderr: expect.not.stringContaining('wr0ng'),
      });
      expect(await names()).toEqual(['box']);
    } finally {
      server.close();
    }
  });

  it('never shows the password of a URL, and leaves nothing when the clone fails', async () => {
    const result = await clone('http://me:s3cr%25et@127.0.0.1:1/x.git#main');
    expect(result.exit).toBe(1);
    expect(result.stderr).toContain('cloning http://127.0.0.1:1/x.git\n');
    expect(result.stderr).toContain(
      "cloning 'http://127.0.0.1:1/x.git' ended with exit code 1; the sandbox was removed again",
    );
    expect(result.stderr).not.toMatch(/s3cr|me:/);
    expect(await names()).toEqual([]);
  });
});
