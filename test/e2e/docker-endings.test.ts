/** How things end on a real engine that is well: commands, processes, containers and clients, and what everybody is told of it. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest';
import { type EngineClient, engineClient, type Started } from '../support/engines/client.ts';
import { engineHost, onEngine } from '../support/engines/shared.ts';

const FOREVER = ['sh', '-c', 'echo begun; exec sleep 4321'];
const MEMORY = ['--memory', '20m'];
/** Takes all memory that there is. */
const GREEDY = ['tail', '/dev/zero'];

let folder: string;
let client: EngineClient;
let box: string;

beforeAll(() => {
  if (engineHost === undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'sbx-endings-'));
  client = engineClient(folder, engineHost);
});
beforeEach(() => {
  box = `endings-${randomUUID().slice(0, 8)}`;
});
afterEach(() => {
  if (engineHost !== undefined) client.run('rm', '--force', '--yes', box);
});
afterAll(() => {
  if (engineHost !== undefined) rmSync(folder, { recursive: true });
});

/** Not in step: somebody has to read on what clients print, or the engine waits. */
const docker = async (...args: string[]) =>
  (await promisify(execFile)('docker', ['--host', engineHost ?? '', ...args])).stdout;
const create = (...more: string[]) =>
  client.must('create', box, '--image', 'sbx-test/busybox', '--network', 'none', ...more);
const inside = () => docker('top', box, '-o', 'pid,stat,args');

describe('out of memory', () => {
  onEngine('the main command ends, its log says why, and the sandbox goes on', () => {
    create(...MEMORY, '--', ...GREEDY);
    client.must('wait', box, '--for', 'process:main');
    expect(client.must('logs', '--follow', box)).toContain('the sandbox ran out of memory');
    const [main] = JSON.parse(client.must('ps', box, '--all', '--json')) as object[];
    expect(main).toMatchObject({ name: 'main', state: 'exited', exit: { signal: 'KILL' } });
    expect(client.must('exec', box, '--', 'echo', 'on')).toBe('on\n');
  });

  onEngine('a log that is followed ends with its process', async () => {
    create(...MEMORY, '--', 'sh', '-c', `echo begun; read -r _ < /go; ${GREEDY.join(' ')}`);
    const logs = client.start('logs', '--follow', box);
    await logs.prints('begun');
    client.must('exec', box, '--', 'sh', '-c', 'echo go > /go');
    expect((await logs.ended).code).toBe(0);
  });

  onEngine('run ends with 137 and says so', () => {
    const image = ['--image', 'sbx-test/busybox', '--network', 'none'];
    const { code, stderr } = client.run('run', ...image, ...MEMORY, '--', ...GREEDY);
    expect(code, stderr).toBe(137);
    expect(stderr).toMatch(/ran out of memory/);
  });

  onEngine('exec that reads its input ends with 137 and says so', () => {
    create(...MEMORY);
    const { code, stderr } = client.run('exec', '-i', box, '--', ...GREEDY);
    expect(code, stderr).toBe(137);
    expect(stderr).toMatch(/ran out of memory/);
  });
});

describe('the client is killed while its command is stopped, and the command ends', () => {
  for (const [what, target] of [
    ['alone', '$$'],
    ['with its whole group', '0'],
  ] as const)
    onEngine(what, async () => {
      create();
      const exec = client.start(
        'exec',
        box,
        '--',
        'sh',
        '-c',
        `echo begun; kill -STOP ${target}; sleep 4321`,
      );
      await exec.prints('begun');
      await expect.poll(inside).toMatch(/^\d+ +T.*begun/m);
      exec.kill();
      await expect.poll(inside).not.toContain('begun');
    });
});

describe.each([
  ['is killed', ['kill'], /stopped|not running/],
  ['is removed', ['rm', '--force'], /removed|stopped|not running|has no sandbox/],
] as const)('the container %s', (_what, words, why) => {
  /** Ends the container; the client says why it ended, and what to do. */
  const expectFailure = async (started: Started, code: number) => {
    await docker(...words, box);
    const ended = await started.ended;
    expect(ended, ended.stderr).toMatchObject({ code, stderr: expect.stringMatching(why) });
    expect(ended.stderr).toMatch(/^hint: .*sbx|"hint":"[^"]*sbx/m);
  };

  onEngine('under exec', async () => {
    create();
    const exec = client.start('exec', box, '--', ...FOREVER);
    await exec.prints('begun');
    await expectFailure(exec, 125);
  });

  onEngine('under logs --follow', async () => {
    create('--', ...FOREVER);
    const logs = client.start('logs', '--follow', box);
    await logs.prints('begun');
    await expectFailure(logs, 1);
  });

  onEngine('under cp out of it', async () => {
    create();
    client.must('exec', box, '--', 'sh', '-c', 'dd if=/dev/zero of=/big bs=1 count=1 seek=20G 2>/dev/null');
    const copy = client.start('cp', `${box}:/big`, '-');
    await copy.prints('big');
    await expectFailure(copy, 1);
  });

  onEngine('under a forward', async () => {
    create('--', 'nc', '-ll', '-p', '3000', '-e', 'cat');
    const forward = client.start('forward', box, ':3000', '--json');
    await forward.prints('3000');
    await expectFailure(forward, 1);
  });

  onEngine('under a shell', async () => {
    create();
    await using terminal = client.open('shell', box);
    await terminal.waitFor('#');
    await docker(...words, box);
    // The exit of a shell that is no session, for want of dtach.
    expect((await terminal.ended).exitCode).toBe(255);
    expect(terminal.screen().join('')).toMatch(why);
  });
});

describe('stop and start', () => {
  onEngine('keep labels and files, and the main command starts again', async () => {
    create('--label', 'team=web', '--', 'sh', '-c', 'echo run >> /runs; exec sleep 4321');
    client.must('exec', box, '--', 'sh', '-c', 'until [ -s /runs ]; do sleep 0.1; done; echo kept > /file');
    client.must('stop', box);
    expect(client.run('exec', box, '--', 'true').code).toBe(125);
    client.must('start', box);
    const look = 'until [ "$(grep -c run /runs)" = 2 ]; do sleep 0.1; done; cat /file';
    expect(client.must('exec', box, '--', 'sh', '-c', look)).toBe('kept\n');
    expect(JSON.parse(client.must('info', box, '--json'))).toMatchObject({ labels: { team: 'web' } });
  });
});
