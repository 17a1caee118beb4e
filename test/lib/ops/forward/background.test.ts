import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startBackground } from '../../../../src/lib/ops/forward/background.ts';
import { backgroundArgs, backgroundEnv } from '../../../../src/lib/ops/forward/background-args.ts';
import { planForward } from '../../../../src/lib/ops/forward/plan.ts';
import { processIdentity } from '../../../../src/lib/ops/forward/process-identity.ts';
import { listForwards, readForward, recordPath } from '../../../../src/lib/ops/forward/records.ts';
import { stopForward } from '../../../../src/lib/ops/forward/stop.ts';

const call = { signal: new AbortController().signal };
const fixture = join(import.meta.dirname, 'keeper.fixture.ts');
let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'sbx-background-'));
});
afterEach(async () => {
  for (const { id } of (await listForwards(state)).forwards) await stopForward(state, id, call);
  rmSync(state, { recursive: true });
});

const start = (id: string, how: string, signal = call.signal) =>
  startBackground(
    { state, id, command: [process.execPath, fixture, state, id, how], env: process.env },
    { signal },
  );

it('returns once it listens, is listed, and leaves nothing when it is stopped', async () => {
  const started = await start('aaaaaa', 'listen');
  expect(started).toMatchObject({ id: 'aaaaaa', state: 'running', forwards: [{ port: 1, remote: 2 }] });
  expect(statSync(recordPath(state, 'aaaaaa')).mode & 0o777).toBe(0o600);
  expect((await listForwards(state)).forwards).toEqual([started]);
  await stopForward(state, 'aaaaaa', call);
  expect(await processIdentity(started.pid)).toBeUndefined();
  expect(readdirSync(join(state, 'forwards'))).toEqual([]);
});

it('tells why it did not start and leaves nothing', async () => {
  await expect(start('bbbbbb', 'fail')).rejects.toMatchObject({
    code: 'failed',
    message: 'the forward did not start: it is broken',
    hint: 'mend it',
  });
  await expect(start('cccccc', 'silent')).rejects.toMatchObject({
    message: 'the forward did not start: its process ended without a word',
  });
  expect(readdirSync(join(state, 'forwards'))).toEqual([]);
});

it('is shown as ended once its process was killed, and is only forgotten then', async () => {
  const { pid } = await start('dddddd', 'listen');
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => processIdentity(pid)).toBeUndefined();
  expect(await readForward(state, 'dddddd')).toMatchObject({ state: 'ended', pid });
  await stopForward(state, 'dddddd', call);
  expect(existsSync(recordPath(state, 'dddddd'))).toBe(false);
});

it('a process is told from another with the same number', async () => {
  const child = spawn('sleep', ['1000']);
  const own = await processIdentity(process.pid);
  const other = await processIdentity(child.pid ?? 0);
  expect(own).toMatch(/^\S+ \d+$/);
  expect(other).not.toBe(own);
  expect(await processIdentity(child.pid ?? 0)).toBe(other);
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(await processIdentity(child.pid ?? 0)).toBeUndefined();
});

it('gets the same plan by its command line, and no flag by its environment', () => {
  const words = ['box', '8080:3000', '80,443'];
  const request = { words, unix: ['/a:b.sock:1'], reverse: false, all: true, address: '0.0.0.0' };
  const planned = planForward(request);
  const argv = backgroundArgs({ backend: 'local', id: 'b1' }, planned, 'eeeeee');
  expect(argv).toEqual([
    'forward',
    '--background-id',
    'eeeeee',
    '--no-input',
    '--all',
    '--address',
    '0.0.0.0',
    '--unix',
    '/a:b.sock:1',
    'local/b1',
    '8080:3000',
    '80,443',
  ]);
  const again = planForward({ ...request, words: argv.slice(9) });
  expect(again.plan).toEqual(planned.plan);
  expect(
    backgroundEnv({ SBX_JSON: '1', SBX_BACKGROUND: '1', SBX_STATE_DIR: '/s', HOME: '/h' }),
  ).toMatchObject({
    SBX_JSON: undefined,
    SBX_BACKGROUND: undefined,
    SBX_STATE_DIR: '/s',
    HOME: '/h',
  });
});
