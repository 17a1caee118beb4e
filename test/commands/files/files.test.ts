import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FileVerbs, fileVerbs } from '../../support/file-verbs.ts';

let world: FileVerbs;
beforeEach(async () => {
  world = await fileVerbs();
});
afterEach(() => world[Symbol.asyncDispose]());

const inside = (name: string) => join(world.box, name);
const files = (...argv: string[]) => world.run(['files', ...argv]);

test('ls: columns, JSON, names, hidden and hostile ones', async () => {
  writeFileSync(inside('.a'), '12345', { mode: 0o640 });
  writeFileSync(inside('e\u001b[2Jvil'), '');
  mkdirSync(inside('d'));
  symlinkSync('d', inside('l'));
  const table = await files('ls', 'box');
  expect(table.stdout).toContain('-rw-r-----');
  expect(table.stdout).toContain('l -> d');
  expect(table.stdout).toContain('e\\e[2Jvil');
  expect(table.stdout).not.toContain('\u001b');
  const json = JSON.parse((await files('ls', 'box', '.', '--json')).stdout) as { name: string }[];
  expect(json[0]).toEqual({
    path: './.a',
    name: '.a',
    type: 'file',
    size: 5,
    mode: '0640',
    modifiedAt: new Date(Math.floor(lstatSync(inside('.a')).mtimeMs)).toISOString(),
    user: expect.any(String),
    group: expect.any(String),
  });
  expect(json.map(({ name }) => name)).toEqual(['.a', 'd', 'e\u001b[2Jvil', 'l']);
  expect((await files('ls', 'box', '.a', '-q')).stdout).toBe('.a\n');
  expect((await files('ls', 'box', 'l', '--json')).stdout).toBe('[]\n');
  expect(await files('ls', 'box', 'missing')).toMatchObject({ exit: 3, stdout: '' });
});

test('write and cat: binary, from standard input and from a file', async () => {
  const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, at) => at % 256));
  expect(await world.run(['files', 'write', 'box', 'b'], { stdin: bytes })).toMatchObject({
    exit: 0,
    stdout: '',
    stderr: '',
  });
  expect((await files('cat', 'box', 'b')).bytes.equals(bytes)).toBe(true);
  writeFileSync(join(world.here, 'local'), 'text');
  const result = await files(
    'write',
    'box',
    'deep/f',
    join(world.here, 'local'),
    '-p',
    '--mode',
    '600',
    '--json',
  );
  expect(JSON.parse(result.stdout)).toEqual({ sandbox: 'box', path: 'deep/f', bytes: 4 });
  expect(readFileSync(inside('deep/f'), 'utf8')).toBe('text');
  expect(lstatSync(inside('deep/f')).mode & 0o777).toBe(0o600);
});

test('what cannot be: exit codes', async () => {
  mkdirSync(inside('d'));
  expect(await files('cat', 'box', 'missing')).toMatchObject({ exit: 3, stdout: '' });
  expect(await files('cat', 'box', 'd')).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining('is a directory'),
  });
  expect(await files('cat', 'box', 'd', '--json')).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('files stat'),
  });
  expect(await files('write', 'box', 'no/f', '/dev/null')).toMatchObject({ exit: 3 });
  expect(await files('write', 'box', 'f', join(world.here, 'missing'))).toMatchObject({ exit: 3 });
  expect(await files('write', 'box', 'f', '/dev/null', '--mode', '9')).toMatchObject({ exit: 2 });
  expect(await files('stat', 'box', 'missing')).toMatchObject({ exit: 3 });
  expect(await files('mkdir', 'box', 'd')).toMatchObject({ exit: 1 });
  expect(await files('mkdir', 'box', 'x/y')).toMatchObject({ exit: 3 });
  expect(await files('rm', 'box', 'd')).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining('--recursive'),
  });
  expect(await files('rm', 'box', 'missing')).toMatchObject({ exit: 3 });
  expect(await files('rm', 'box', 'missing', '-f')).toMatchObject({ exit: 0 });
  expect(await files('rm', 'box', '/', '-rf')).toMatchObject({ exit: 2 });
  expect(await files('stat', 'nobody', 'f')).toMatchObject({ exit: 3 });
  expect(await files('stat')).toMatchObject({ exit: 2 });
});

test('mkdir, stat, rm', async () => {
  expect(await files('mkdir', 'box', 'a/b', '-p', '--mode', '700')).toMatchObject({
    exit: 0,
    stdout: '',
    stderr: '',
  });
  const stat = JSON.parse((await files('stat', 'box', 'a/b', '--json')).stdout) as object;
  expect(stat).toMatchObject({ path: 'a/b', name: 'b', type: 'directory', mode: '0700' });
  const removed = await files('rm', 'box', 'a', '-r', '--json');
  expect(JSON.parse(removed.stdout)).toEqual({ sandbox: 'box', path: 'a', done: 'removed' });
  expect(existsSync(inside('a'))).toBe(false);
});

test('watch prints changes until it is interrupted, and that is no failure', async () => {
  let count = 0;
  const interruptWhen = (stdout: string) => {
    // Watching has no sign that it began: keep making files until one is noticed.
    writeFileSync(inside(`new${count++}`), '');
    return stdout.includes('\n');
  };
  const { stdout, stderr } = await world.run(['files', 'watch', 'box', '.', '--json'], { interruptWhen });
  const [first] = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(first).toMatchObject({
    kind: 'created',
    path: expect.stringContaining('new'),
    time: expect.any(String),
  });
  expect(stderr).toBe('');
}, 20_000);

test('a path alone, with two sandboxes that run: the hint still has the path', async () => {
  const { exit, stderr } = await files('cat', 'my notes');
  expect(exit).toBe(2);
  expect(stderr).toMatch(/\nhint: sbx files cat (box|other) 'my notes'\n/);
});

test('a path as cp writes it is answered with the words to use', async () => {
  expect(await files('cat', 'box:/etc/hostname')).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('hint: sbx files cat box /etc/hostname'),
  });
});
