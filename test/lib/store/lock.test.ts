import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  acquireLock,
  describeHolder,
  type LockHolder,
  tryLock,
  withLock,
} from '../../../src/lib/store/lock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const call = { signal: new AbortController().signal };

test('one holder at a time, within one process too', async () => {
  const path = join(folder, 'a/b/lock');
  let inside = 0;
  let most = 0;
  let runs = 0;
  await Promise.all(
    Array.from({ length: 20 }, () =>
      withLock(path, call, async () => {
        most = Math.max(most, ++inside);
        await new Promise(setImmediate);
        inside--;
        runs++;
      }),
    ),
  );
  expect({ most, runs }).toEqual({ most: 1, runs: 20 });
});

test('is let go when the work fails', async () => {
  const path = join(folder, 'lock');
  await expect(withLock(path, call, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  using lock = await tryLock(path);
  expect(lock?.path).toBe(path);
});

test('another process that holds it keeps us out, and being killed lets go', async () => {
  const path = join(folder, 'lock');
  const { child, said } = holdInChild(path);
  await said;
  expect(await tryLock(path)).toBeUndefined();
  const holders: LockHolder[] = [];
  const waiting = acquireLock(path, call, {
    patienceMs: 0,
    onWait: (holder) => {
      holders.push(holder);
      child.kill('SIGKILL');
    },
  });
  using lock = await waiting;
  expect(lock.path).toBe(path);
  expect(holders).toEqual([{ path, pid: child.pid, purpose: 'holding on' }]);
  expect(holders.map(describeHolder)).toEqual([
    `waiting for process ${child.pid} (holding on), which holds ${path}`,
  ]);
});

test('shared holders let each other in, and nobody who wants it alone', async () => {
  const path = join(folder, 'lock');
  using first = await acquireLock(path, call, { shared: true });
  using second = await acquireLock(path, call, { shared: true });
  expect(await tryLock(path)).toBeUndefined();
  first.release();
  expect(await tryLock(path)).toBeUndefined();
  second.release();
  using alone = await tryLock(path);
  expect(alone).toBeDefined();
  expect(await tryLock(path, { shared: true })).toBeUndefined();
});

test('waiting can be called off', async () => {
  const path = join(folder, 'lock');
  using _held = await acquireLock(path, call);
  const controller = new AbortController();
  const waiting = acquireLock(path, { signal: controller.signal });
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'interrupted' });
});

test('a lock file that its holder removed is no lock any more', async () => {
  const path = join(folder, 'lock');
  using first = await acquireLock(path, call);
  rmSync(path);
  using second = await acquireLock(path, call);
  first.release();
  expect(second.path).toBe(path);
  expect(await tryLock(path)).toBeUndefined();
});

test('holders that remove the lock file are still alone, whoever waited on the old one', async () => {
  const lock = new URL('../../../src/lib/store/lock.ts', import.meta.url).pathname;
  const code = `import * as fs from 'node:fs';
    import { withLock } from ${JSON.stringify(lock)};
    const [path] = process.argv.slice(1);
    for (let i = 0; i < 300; i++) {
      await withLock(path, { signal: new AbortController().signal }, async () => {
        fs.writeFileSync(path + '.inside', '', { flag: 'wx' });
        await new Promise(setImmediate);
        fs.rmSync(path + '.inside');
        fs.rmSync(path);
      });
    }`;
  const run = () =>
    promisify(execFile)(process.execPath, ['--input-type=module', '-e', code, join(folder, 'lock')]);
  await Promise.all([run(), run(), run()]);
}, 60_000);

test('a folder that cannot be made is named', async () => {
  writeFileSync(join(folder, 'file'), '');
  await expect(tryLock(join(folder, 'file/lock'))).rejects.toMatchObject({
    code: 'failed',
    message: expect.stringContaining(join(folder, 'file/lock')),
  });
});

function holdInChild(path: string) {
  const lock = new URL('../../../src/lib/store/lock.ts', import.meta.url).pathname;
  const code = `import { acquireLock } from ${JSON.stringify(lock)};
    await acquireLock(process.argv[1], { signal: new AbortController().signal }, { purpose: 'holding on' });
    console.log('held'); setInterval(() => 0, 1e6);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { child, said: once(child.stdout, 'data') };
}
