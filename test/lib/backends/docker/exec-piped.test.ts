/** Commands by pipes, with the program for containers as a process of this machine. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import type { Exit, Running } from '../../../../src/lib/backend/contract.ts';
import type { Box, Docker } from '../../../../src/lib/backends/docker/box.ts';
import { execPiped } from '../../../../src/lib/backends/docker/exec-piped.ts';
import type { PipedSpec } from '../../../../src/lib/backends/docker/exec-request.ts';
import { makePipes } from '../../../../src/lib/backends/docker/pipes.ts';
import { requireOrSkip } from '../../../support/require.ts';
import { mounting, tinyDisk } from '../../../support/tiny-disk.ts';

const ID = '0123456789ab';
const SHELLS = { dash: ['/bin/sh'], busybox: ['busybox', 'sh'] } as const;
const call = { signal: new AbortController().signal };

let folder: string;
let pipes: string;
let box: Box;
const servers: ChildProcess[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-piped-'));
  await open(join(folder, 'state'));
});
afterEach(() => {
  for (const { pid } of servers.splice(0)) if (pid !== undefined) killSession(pid);
  rmSync(folder, { recursive: true });
});

/** A sandbox whose clients have `shared`. */
async function open(shared: string): Promise<void> {
  const engine = { address: async () => ({ kind: 'socket', path: '/engine' }) };
  const docker = { name: 'docker', shared, env: process.env, engine } as unknown as Docker;
  box = { docker, id: ID, name: 'box', container: 'c', workdir: '/', isPaused: false } as Box;
  const mount = await makePipes(docker, ID);
  pipes = mount?.Source ?? '';
}

/** A server that is there: its end of the FIFO for requests is open. */
async function serve(shell: readonly string[]): Promise<ChildProcess> {
  const [program = '', ...first] = shell;
  const server = spawn(program, [...first, join(pipes, 'serve')], { stdio: 'ignore', detached: true });
  servers.push(server);
  for (;;) {
    const probe = await run({ argv: ['true'] });
    if (probe !== undefined) return server;
  }
}

function killSession(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

const start = (spec: Partial<PipedSpec> & Pick<PipedSpec, 'argv'>) =>
  execPiped(box, { workdir: '/', stdin: 'none', ...spec }, call);

async function run(spec: Partial<PipedSpec> & Pick<PipedSpec, 'argv'>) {
  const running = await start(spec);
  return running === undefined ? undefined : end(running);
}

async function end(running: Running): Promise<{ exit: Exit; out: string; err: string }> {
  const outputs = [running.stdout, running.stderr].map((each) => (each === undefined ? '' : text(each)));
  const [out = '', err = ''] = await Promise.all(outputs);
  return { exit: await running.wait(), out, err };
}

/** What is in the folder beside the program and the FIFO for requests. */
const left = () => readdirSync(pipes).filter((name) => name !== 'serve' && name !== 'requests');

describe.each(Object.entries(SHELLS))('a server of %s', (_name, shell) => {
  const [program, ...first] = shell;
  const test = requireOrSkip(spawnSync(program, [...first, '-c', ':']).status === 0, program);

  test('runs a command as it was asked for, and nothing of the request stays', async () => {
    await serve(shell);
    const script = 'echo "$A|$1|$(pwd)"; echo oops >&2; cat; exit 7';
    const argv = ['sh', '-c', script, 'sh', "it's $(1)\n"] as const;
    const running = await start({ argv, env: { A: '"; exit' }, workdir: '/usr', stdin: 'pipe' });
    if (running === undefined) throw new Error('it was not run');
    running.stdin?.end('all of it');
    expect(left()).toEqual([]);
    expect(await end(running)).toEqual({
      exit: { code: 7 },
      out: '"; exit|it\'s $(1)\n|/usr\nall of it',
      err: 'oops\n',
    });
  });

  test('tells why a command cannot be run, as the engine’s way does', async () => {
    await serve(shell);
    expect(await run({ argv: ['no-such-program'] })).toMatchObject({
      exit: { code: 127 },
      err: 'sbx: no-such-program: not found\n',
    });
    expect(await run({ argv: ['true'], workdir: '/no/such' })).toMatchObject({
      exit: { code: 126 },
      err: 'sbx: cannot enter the workdir /no/such\n',
    });
  });

  test('INT is not ignored, and the command has a session of its own', async () => {
    await serve(shell);
    const running = await start({
      argv: ['sh', '-c', 'read -r a < /proc/self/stat; echo "$a"; exec sleep 4329'],
    });
    if (running?.stdout === undefined) throw new Error('it was not run');
    const [data] = (await once(running.stdout, 'data')) as [Buffer];
    const [pid, , , , group, session] = data.toString().split(' ');
    expect([group, session]).toEqual([pid, pid]);
    await running.signal('INT');
    expect(await end(running)).toMatchObject({ exit: { signal: 'INT' } });
  });

  test('what hostile writers announce disturbs nobody', async () => {
    await serve(shell);
    const lines = [
      '',
      '../../etc/passwd',
      '0123',
      'requests',
      'serve',
      ';touch x',
      '-',
      '*',
      `${'f'.repeat(5000)}`,
    ];
    appendFileSync(join(pipes, 'requests'), lines.map((line) => `${line}\n`).join(''));
    expect(await run({ argv: ['echo', 'still here'] })).toMatchObject({ out: 'still here\n' });
    expect(left()).toEqual([]);
  });

  test('a server that stands still: the command is not run, then or later', async () => {
    const server = await serve(shell);
    process.kill(server.pid ?? 0, 'SIGSTOP');
    const file = join(folder, 'ran');
    expect(await run({ argv: ['sh', '-c', 'echo ran >> "$1"', 'sh', file] })).toBeUndefined();
    expect(left()).toEqual([]);
    process.kill(server.pid ?? 0, 'SIGCONT');
    expect(await run({ argv: ['echo', 'next'] })).toMatchObject({ out: 'next\n' });
    expect(existsSync(file)).toBe(false);
  });

  test('terminate reaches what left the command’s group', async () => {
    await serve(shell);
    const running = await start({ argv: ['sh', '-c', 'sleep 4329 & setsid sleep 4329 & echo up; wait'] });
    if (running?.stdout === undefined) throw new Error('it was not run');
    await once(running.stdout, 'data');
    await running.terminate(0);
    expect(await running.wait()).toEqual({ signal: 'KILL' });
    expect(sleepers()).toEqual([]);
  });
});

/** Processes that sleep as long as those of these tests. */
function sleepers(): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1');
      return (
        readFileSync(`/proc/${pid}/cmdline`, 'latin1') === 'sleep\x004329\0' &&
        environment.includes('SBX_EXEC_ID=')
      );
    } catch {
      // It has ended.
      return false;
    }
  });
}

const test = requireOrSkip(existsSync('/bin/sh'), '/bin/sh');

test('two servers: the later one leaves the work to the first', async () => {
  await serve(SHELLS.dash);
  const second = spawn('/bin/sh', [join(pipes, 'serve')], { stdio: 'ignore', detached: true });
  servers.push(second);
  expect(await once(second, 'exit')).toEqual([0, null]);
  expect(await run({ argv: ['echo', 'first'] })).toMatchObject({ out: 'first\n' });
});

test('without a server nothing is asked for, and nothing stays', async () => {
  expect(await run({ argv: ['true'] })).toBeUndefined();
  expect(left()).toEqual([]);
  expect(box.isUnserved).toBe(true);
});

test('for another user, on a terminal, in a paused sandbox: by the engine', async () => {
  await serve(SHELLS.dash);
  expect(await run({ argv: ['true'], user: 'nobody' })).toBeUndefined();
  expect(await run({ argv: ['true'], terminal: { rows: 1, cols: 1 } })).toBeUndefined();
  box.isPaused = true;
  expect(await run({ argv: ['true'] })).toBeUndefined();
});

test('a call that is given up while nobody answers leaves nothing', async () => {
  const server = await serve(SHELLS.dash);
  process.kill(server.pid ?? 0, 'SIGSTOP');
  const given = new AbortController();
  const asked = execPiped(box, { argv: ['true'], workdir: '/', stdin: 'none' }, { signal: given.signal });
  given.abort();
  await expect(asked).rejects.toMatchObject({ code: 'interrupted' });
  expect(left()).toEqual([]);
});

mounting('a full disk: by the engine, and nothing stays', async () => {
  using _disk = tinyDisk(join(folder, 'tiny'));
  await open(join(folder, 'tiny', 'docker'));
  await serve(SHELLS.dash);
  spawnSync('sh', ['-c', 'cat /dev/zero > "$1"', 'sh', join(folder, 'tiny', 'filler')]);
  expect(await run({ argv: ['true'] })).toBeUndefined();
  expect(left()).toEqual([]);
  rmSync(join(folder, 'tiny', 'filler'));
  expect(await run({ argv: ['true'] })).toMatchObject({ exit: { code: 0 } });
});
