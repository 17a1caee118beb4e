import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readJsonFile, updateJsonFile, writeJsonFile } from '../../../src/lib/store/json-file.ts';
import { asRoot } from '../../support/require.ts';
import { mounting, tinyDisk } from '../../support/tiny-disk.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'sbx-json-'));
  path = join(folder, 'some/state.json');
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

const call = { signal: new AbortController().signal };

function numbers(value: unknown): number[] {
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'number'))
    throw new Error('it must be a list of numbers');
  return value;
}

function put(text: string, mode = 0o600): void {
  fs.mkdirSync(join(folder, 'some'), { recursive: true });
  fs.writeFileSync(path, text, { mode });
}

test('what is written is read; the file is 0600 in a folder of 0700, and nothing else is left', () => {
  expect(readJsonFile(path, numbers)).toBeUndefined();
  writeJsonFile(path, [1, 2]);
  writeJsonFile(path, [1, 2, 3]);
  expect(readJsonFile(path, numbers)).toEqual([1, 2, 3]);
  expect(fs.statSync(path).mode & 0o777).toBe(0o600);
  expect(fs.statSync(join(folder, 'some')).mode & 0o777).toBe(0o700);
  expect(fs.readdirSync(join(folder, 'some'))).toEqual(['state.json']);
});

describe('a file that is no good is named, and an update leaves it as it is', () => {
  test.each([
    ['empty', '', 'it is empty'],
    ['white space only', ' \n', 'it is empty'],
    ['half-written', '[1,\n 2, ', 'it is not valid JSON (it is cut off)'],
    ['half-written in a text', '["a', 'it is not valid JSON (it is cut off)'],
    ['broken in the second line', '[1,\n 2 3]', 'it is not valid JSON (line 2, column 4)'],
    ['of another shape', '{"a": 1}', 'it must be a list of numbers'],
    ['binary', '\u0000\u0001', 'it is not valid JSON'],
  ])('%s', async (_name, text, reason) => {
    put(text);
    const message = expect.stringContaining(`cannot use ${path}: ${reason}`);
    expect(() => readJsonFile(path, numbers)).toThrow(expect.objectContaining({ code: 'failed', message }));
    await expect(updateJsonFile(path, call, numbers, () => [9])).rejects.toMatchObject({
      code: 'failed',
      message,
    });
    expect(fs.readFileSync(path, 'utf8')).toBe(text);
  });

  test('what stands in a broken file is not repeated', () => {
    put('{"token": "s3cret"x}');
    const error = thrownBy(() => readJsonFile(path, numbers));
    expect(JSON.stringify([error.message, error.stack, error.cause])).not.toContain('s3cret');
  });

  test('a folder, a named pipe, a link to itself', () => {
    fs.mkdirSync(path, { recursive: true });
    expect(thrownBy(() => readJsonFile(path, numbers)).message).toContain('it is not a regular file');
    expect(thrownBy(() => writeJsonFile(path, [1])).message).toContain('it is not a regular file');
    fs.rmdirSync(path);
    execFileSync('mkfifo', [path]);
    expect(thrownBy(() => readJsonFile(path, numbers)).message).toContain('it is not a regular file');
    fs.rmSync(path);
    fs.symlinkSync('state.json', path);
    expect(thrownBy(() => readJsonFile(path, numbers)).message).toContain('too many symbolic links');
    expect(thrownBy(() => writeJsonFile(path, [1])).message).toContain('too many symbolic links');
  });

  test('read-only', async () => {
    put('[1]', 0o400);
    await expect(updateJsonFile(path, call, numbers, () => [2])).rejects.toMatchObject({
      message: `cannot write ${path}: it is read-only`,
      hint: `chmod u+w ${path}`,
    });
    expect(readJsonFile(path, numbers)).toEqual([1]);
  });

  asRoot()('of another user', () => {
    put('[1]');
    fs.chownSync(path, 65534, 65534);
    const error = thrownBy(() => readJsonFile(path, numbers));
    expect(error.message).toBe(`cannot use ${path}: it belongs to user 65534, not to user 0`);
    expect(thrownBy(() => writeJsonFile(path, [2])).message).toBe(error.message);
    expect(fs.readFileSync(path, 'utf8')).toBe('[1]');
  });
});

test('a symbolic link stays one and its target is written, also when that is not there yet', () => {
  fs.mkdirSync(join(folder, 'some'));
  fs.mkdirSync(join(folder, 'dotfiles'));
  fs.symlinkSync('../dotfiles/sbx.json', path);
  for (const value of [[1], [2]]) {
    writeJsonFile(path, value);
    expect(fs.readlinkSync(path)).toBe('../dotfiles/sbx.json');
    expect(JSON.parse(fs.readFileSync(join(folder, 'dotfiles/sbx.json'), 'utf8'))).toEqual(value);
  }
});

test('a folder that cannot be written is named', () => {
  fs.writeFileSync(join(folder, 'file'), '');
  const error = thrownBy(() => writeJsonFile(join(folder, 'file/sub/state.json'), [1]));
  expect(error).toMatchObject({ code: 'failed', message: expect.stringContaining(join(folder, 'file/sub')) });
});

test('what a killed writer left is gone after the next update', async () => {
  put('[1]');
  fs.writeFileSync(join(folder, 'some/.state.json.1-abcdef01.tmp'), '[');
  await updateJsonFile(path, call, numbers, (present) => [...(present ?? []), 2]);
  expect(fs.readdirSync(join(folder, 'some')).sort()).toEqual(['state.json', 'state.json.lock']);
  expect(readJsonFile(path, numbers)).toEqual([1, 2]);
});

mounting('a full disk leaves the old file and no temporary one', () => {
  const mount = join(folder, 'tiny');
  using _disk = tinyDisk(mount);
  const full = join(mount, 'state.json');
  writeJsonFile(full, [1]);
  const error = thrownBy(() =>
    writeJsonFile(
      full,
      Array.from({ length: 50_000 }, (_, i) => i),
    ),
  );
  expect(error).toMatchObject({
    message: `cannot write ${full}: no space left on the device`,
    retryable: true,
  });
  expect(readJsonFile(full, numbers)).toEqual([1]);
  expect(fs.readdirSync(mount)).toEqual(['state.json']);
});

function thrownBy(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}
