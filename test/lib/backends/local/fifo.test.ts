import { closeSync, existsSync, mkdtempSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openPipes } from '../../../../src/lib/backends/local/fifo.ts';

let folder: string;
let spare: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-fifo-'));
  spare = join(folder, 'pipes');
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('pipes carry bytes both ways, lose their names at once, and others lie ready', async () => {
  const { stdin, stdout } = openPipes(spare, ['stdin', 'stdout']);
  if (stdin === undefined || stdout === undefined) throw new Error('a pipe is missing');
  expect(readdirSync(spare).filter((name) => name.startsWith('.'))).toEqual([]);
  expect(readdirSync(spare).length).toBeGreaterThan(2);
  writeSync(stdout.theirs, 'out');
  closeSync(stdout.theirs);
  expect(await text(stdout.stream)).toBe('out');
  closeSync(stdin.theirs);
  stdin.stream.destroy();
});

test('a pipe that lay ready is used once: what a command left behind cannot write into the next one', async () => {
  const before = openPipes(spare, ['stdout']).stdout;
  const names = readdirSync(spare);
  const first = openPipes(spare, ['stdout']).stdout;
  const second = openPipes(spare, ['stdout']).stdout;
  if (before === undefined || first === undefined || second === undefined) throw new Error('no pipe');
  expect(readdirSync(spare)).toHaveLength(names.length - 2);
  writeSync(first.theirs, 'of the first');
  closeSync(first.theirs);
  closeSync(second.theirs);
  closeSync(before.theirs);
  expect(await Promise.all([first, second].map(({ stream }) => text(stream)))).toEqual(['of the first', '']);
  before.stream.destroy();
});

test('when none is left more are made', () => {
  const opened = Array.from({ length: 40 }, () => openPipes(spare, ['stdout']).stdout);
  for (const pipe of opened) {
    if (pipe === undefined) throw new Error('no pipe');
    closeSync(pipe.theirs);
    pipe.stream.destroy();
  }
  expect(existsSync(spare)).toBe(true);
});

test('a sandbox that is removed meanwhile does not come back', () => {
  const gone = join(folder, 'gone');
  expect(() => openPipes(join(gone, 'pipes'), ['stdout'])).toThrow('the sandbox was removed');
  expect(existsSync(gone)).toBe(false);
});
