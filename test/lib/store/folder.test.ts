import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, expect, test } from 'vitest';
import { ensureFolder } from '../../../src/lib/store/folder.ts';

const WORKERS = 6;
const ROUNDS = 150;

/** Makes one deep folder a round, all workers at the same moment; says what went wrong. */
const MAKER = `
const { workerData: { barrier, module, folder, workers, rounds }, parentPort } = require('node:worker_threads');
import(module).then(({ ensureFolder }) => {
  const problems = [];
  for (let round = 0; round < rounds; round++) {
    Atomics.add(barrier, 0, 1);
    while (Atomics.load(barrier, 0) < workers * (round + 1));
    try { ensureFolder(folder + '/' + round + '/a/b/c/d'); } catch (error) { problems.push(error.message); }
  }
  parentPort.postMessage(problems);
});`;

const root = mkdtempSync(join(tmpdir(), 'sbx-folder-'));
afterEach(() => rmSync(join(root, 'a'), { recursive: true, force: true }));
afterAll(() => rmSync(root, { recursive: true }));

test('makes the folder and those above it for us alone, and again without an error', () => {
  const path = join(root, 'a', 'b', 'c');
  ensureFolder(path);
  ensureFolder(path);
  for (const each of [join(root, 'a'), path]) expect(statSync(each).mode & 0o777).toBe(0o700);
});

test('a file in the way is named', () => {
  writeFileSync(join(root, 'a'), '');
  expect(() => ensureFolder(join(root, 'a'))).toThrow(/cannot make the folder .*\/a: /);
  expect(() => ensureFolder(join(root, 'a', 'b'))).toThrow(/cannot make the folder .*\/a\/b: /);
});

test('a HOME that takes no folders, as /proc, is an error and no endless loop', () => {
  expect(() => ensureFolder('/proc/.local/state/sbx')).toThrow(
    'cannot make the folder /proc/.local/state/sbx',
  );
});

test('many that make the same folders at once all have them', async () => {
  const data = {
    barrier: new Int32Array(new SharedArrayBuffer(4)),
    module: new URL('../../../src/lib/store/folder.ts', import.meta.url).href,
    ...{ folder: join(root, 'a'), workers: WORKERS, rounds: ROUNDS },
  };
  const problems = await Promise.all(
    Array.from(
      { length: WORKERS },
      () =>
        new Promise((resolve, reject) => {
          const worker = new Worker(MAKER, { eval: true, workerData: data });
          worker.once('message', resolve);
          worker.once('error', reject);
        }),
    ),
  );
  expect(problems.flat()).toEqual([]);
  expect(statSync(join(root, 'a/0/a/b/c/d')).mode & 0o777).toBe(0o700);
});
