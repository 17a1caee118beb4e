/** The main job from start to end, as whatever user runs the tests: the built bin on the local backend. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const bin = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'sbx-smoke-'));
const env = { PATH: process.env.PATH, HOME: home, SBX_STATE_DIR: join(home, 'state') };
afterAll(() => rmSync(home, { recursive: true, force: true }));

function sbx(...args: string[]): Promise<{ exit: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [bin, ...args], { env, cwd: home, timeout: 30_000 }, (error, stdout, stderr) =>
      resolve({ exit: error === null ? 0 : error.code, stdout, stderr }),
    );
  });
}

test('run prints what the command prints, exits as it exits, and leaves no sandbox', async () => {
  expect(await sbx('run', '--', 'sh', '-c', 'echo out; exit 7')).toMatchObject({ exit: 7, stdout: 'out\n' });
  expect(await sbx('ls', '--all', '-q')).toMatchObject({ exit: 0, stdout: '' });
});

test('create, exec, files, stop, start, rm', async () => {
  expect(await sbx('create', 'box')).toMatchObject({ exit: 0, stdout: 'box\n' });
  expect(await sbx('exec', 'box', 'sh', '-c', 'id -u; echo kept > file; pwd')).toMatchObject({
    exit: 0,
    stdout: '0\n/workspace\n',
  });
  expect((await sbx('stop', 'box')).exit).toBe(0);
  expect((await sbx('start', 'box')).exit).toBe(0);
  expect(await sbx('files', 'cat', 'box', 'file')).toMatchObject({ exit: 0, stdout: 'kept\n' });
  expect((await sbx('rm', '--force', 'box')).exit).toBe(0);
  expect((await sbx('exec', 'box', 'true')).exit).toBe(125);
  expect(await sbx('ls', '--all', '-q')).toMatchObject({ exit: 0, stdout: '' });
});

test('nothing is kept outside the state folder', () => {
  expect(readdirSync(home).filter((name) => name !== 'state')).toEqual([]);
});
