import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { anyTree, leftovers, plant, survey } from '../../lib/ops/copy/trees.ts';
import { type FileVerbs, fileVerbs } from '../../support/file-verbs.ts';
import { hasty } from '../../support/later.ts';

let world: FileVerbs;
beforeEach(async () => {
  world = await fileVerbs();
});
afterEach(() => world[Symbol.asyncDispose]());

const here = (name: string) => join(world.here, name);
const inside = (name: string) => join(world.box, name);
const write = (path: string, text = 'x') => {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
};
const ok = { exit: 0, stdout: '', stderr: '' };

test('any tree to a sandbox, to another, and back is the same', async () => {
  let round = 0;
  await fc.assert(
    fc.asyncProperty(anyTree, async (node) => {
      const name = `t${++round}`;
      plant(here(name), node);
      expect(await world.run(['cp', here(name), 'box:'])).toMatchObject(ok);
      expect(await world.run(['cp', `box:${name}`, `other:copy${round}`])).toMatchObject(ok);
      expect(
        await world.run(['cp', `other:copy${round}`, here(`back${round}`), '--archive', '--unsafe-links']),
      ).toMatchObject(ok);
      expect(survey(here(`back${round}`))).toEqual(survey(here(name)));
    }),
    { numRuns: 8 },
  );
  for (const folder of [world.here, world.box, world.other]) expect(leftovers(folder)).toEqual([]);
}, 60_000);

describe.each(['to a sandbox', 'from a sandbox'] as const)('what goes where, %s', (way) => {
  const source = (name: string) => (way === 'to a sandbox' ? here(name) : inside(name));
  const target = (name: string) => (way === 'to a sandbox' ? inside(name) : here(name));
  const cp = (from: string, to: string) =>
    way === 'to a sandbox'
      ? world.run(['cp', `${world.here}/${from}`, `box:${to}`])
      : world.run(['cp', `box:${from}`, `${world.here}/${to}`]);

  test('a file to a new name, over a file, into a directory', async () => {
    write(source('f'), 'new');
    expect(await cp('f', 'g')).toMatchObject(ok);
    expect(readFileSync(target('g'), 'utf8')).toBe('new');
    write(target('old'), 'old');
    expect(await cp('f', 'old')).toMatchObject(ok);
    expect(readFileSync(target('old'), 'utf8')).toBe('new');
    mkdirSync(target('d'));
    expect(await cp('f', 'd')).toMatchObject(ok);
    expect(await cp('f', 'd/h')).toMatchObject(ok);
    expect(Object.keys(survey(target('d')))).toEqual(['', 'f', 'h'].sort());
  });

  test('a directory to a new name, into a directory, its contents only', async () => {
    write(source('d/sub/f'));
    expect(await cp('d', 'new')).toMatchObject(ok);
    expect(Object.keys(survey(target('new')))).toEqual(['', 'sub', 'sub/f']);
    expect(await cp('d', 'new')).toMatchObject(ok);
    expect(existsSync(join(target('new'), 'd/sub/f'))).toBe(true);
    mkdirSync(target('c'));
    expect(await cp('d/.', 'c')).toMatchObject(ok);
    expect(Object.keys(survey(target('c')))).toEqual(['', 'sub', 'sub/f']);
    expect(await cp('d/.', 'c2')).toMatchObject(ok);
    expect(Object.keys(survey(target('c2')))).toEqual(['', 'sub', 'sub/f']);
  });

  test('a link stays a link; its end may be a directory', async () => {
    write(source('f'), 'text');
    symlinkSync('f', source('l'));
    expect(await cp('l', 'copy')).toMatchObject(ok);
    expect(readlinkSync(target('copy'))).toBe('f');
    mkdirSync(target('real'));
    symlinkSync('real', target('to'));
    expect(await cp('f', 'to')).toMatchObject(ok);
    expect(readFileSync(join(target('real'), 'f'), 'utf8')).toBe('text');
  });

  test('what cannot be', async () => {
    write(source('f'));
    write(source('d/f'));
    write(target('file'));
    expect(await cp('missing', 'x')).toMatchObject({ exit: 3 });
    expect(await cp('f', 'no/x')).toMatchObject({ exit: 3 });
    expect(await cp('f', 'no/')).toMatchObject({ exit: 3 });
    expect(await cp('d', 'file')).toMatchObject({ exit: 1 });
    mkdirSync(target('x/d/f'), { recursive: true });
    expect(await cp('d', 'x')).toMatchObject({ exit: 1, stderr: expect.stringContaining('directory') });
    expect(leftovers(world.here)).toEqual([]);
    expect(leftovers(world.box)).toEqual([]);
  });
});

test('-L follows a source, in both places', async () => {
  write(here('d/f'));
  symlinkSync('d', here('l'));
  expect(await world.run(['cp', '-L', here('l'), 'box:'])).toMatchObject(ok);
  expect(lstatSync(inside('l')).isDirectory()).toBe(true);
  symlinkSync('l/f', inside('lf'));
  expect(await world.run(['cp', '-L', 'box:lf', here('out')])).toMatchObject(ok);
  expect(readFileSync(here('out'), 'utf8')).toBe('x');
});

test('many sources, odd names, a colon behind ./', async () => {
  for (const name of ['a b', 'new\nline', 'ü', '-dash', 'c:d']) write(here(name), name);
  mkdirSync(inside('in'));
  const sources = ['a b', 'new\nline', 'ü', '-dash', 'c:d'].map(here);
  expect(await world.run(['cp', ...sources, 'box:in'])).toMatchObject(ok);
  expect(Object.keys(survey(inside('in'))).sort()).toEqual(['', '-dash', 'a b', 'c:d', 'new\nline', 'ü']);
  mkdirSync(here('back'));
  expect(await world.run(['cp', 'box:in/c:d', 'box:in/new\nline', here('back')])).toMatchObject(ok);
  expect(readFileSync(here('back/c:d'), 'utf8')).toBe('c:d');
  expect(await world.run(['cp', here('a b'), here('ü'), 'box:nothing'])).toMatchObject({ exit: 3 });
  expect(await world.run(['cp', here('in/a'), here('x/a'), 'box:in'])).toMatchObject({ exit: 3 });
});

test('a tar out and in', async () => {
  write(inside('d/f'), 'text');
  const out = await world.run(['cp', 'box:d', '-']);
  expect(out).toMatchObject({ exit: 0, stderr: '' });
  expect(execFileSync('tar', ['-tf', '-'], { input: out.bytes, encoding: 'utf8' })).toBe('d/\nd/f\n');
  expect(await world.run(['cp', '-', 'other:'], { stdin: out.bytes })).toMatchObject(ok);
  expect(readFileSync(join(world.other, 'd/f'), 'utf8')).toBe('text');
  const cut = await world.run(['cp', '-', 'other:'], { stdin: out.bytes.subarray(0, 1200) });
  expect(cut).toMatchObject({ exit: 1, stderr: expect.stringContaining('cut') });
  expect(await world.run(['cp', '-', 'other:missing'], { stdin: out.bytes })).toMatchObject({ exit: 3 });
  expect(await world.run(['cp', '-', 'other:'], { stdin: '' })).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining('empty'),
  });
  expect(leftovers(world.other)).toEqual([]);
});

test('--exclude on both ways, --gitignore on the way in', async () => {
  for (const path of ['p/a.log', 'p/keep/b.txt', 'p/node_modules/m.js', 'p/node_modules.txt'])
    write(here(path));
  write(here('p/.gitignore'), 'node_modules\n');
  expect(await world.run(['cp', here('p'), 'box:', '--gitignore', '--exclude', '*.log'])).toMatchObject(ok);
  expect(Object.keys(survey(inside('p'))).sort()).toEqual([
    '',
    '.gitignore',
    'keep',
    'keep/b.txt',
    'node_modules.txt',
  ]);
  expect(
    await world.run(['cp', 'box:p', here('out'), '--exclude', 'keep', '--exclude=/.gitignore']),
  ).toMatchObject(ok);
  expect(Object.keys(survey(here('out')))).toEqual(['', 'node_modules.txt']);
  expect(await world.run(['cp', 'box:p', here('out'), '--gitignore'])).toMatchObject({ exit: 2 });
});

test('--json tells what was copied; the exit code tells the rest', async () => {
  write(here('d/f'), '12345');
  write(here('d/g'), '');
  const result = await world.run(['cp', here('d'), 'box:', '--json']);
  expect(JSON.parse(result.stdout)).toEqual({ files: 2, bytes: 5, durationMs: expect.any(Number) });
  const failed = await world.run(['cp', 'box:missing', world.here, '--json']);
  expect(failed.exit).toBe(3);
  expect(JSON.parse(failed.stderr)).toMatchObject({ code: 'not_found' });
});

test('usage: no sandbox, one place, terminals', async () => {
  for (const argv of [['a', 'b'], ['box:a'], [], ['-', '-'], ['-', 'a', 'box:'], ['box:a', '']]) {
    expect(await world.run(['cp', ...argv]), argv.join(' ')).toMatchObject({ exit: 2 });
  }
  expect(await world.run(['cp', 'box:a', '-'], { tty: true })).toMatchObject({ exit: 2 });
  expect(await world.run(['cp', '-', 'box:'], { tty: true })).toMatchObject({ exit: 2 });
  expect(await world.run(['cp', 'nobody:a', 'b'])).toMatchObject({ exit: 3 });
});

test('a link out of the tree ends the copy; nothing is written', async () => {
  write(inside('d/f'));
  symlinkSync('/etc', inside('d/out'));
  const result = await world.run(['cp', 'box:d', here('x')]);
  expect(result).toMatchObject({ exit: 1, stderr: expect.stringContaining('symlink out of') });
  expect(existsSync(here('x'))).toBe(false);
  expect(await world.run(['cp', 'box:d', here('x'), '--unsafe-links'])).toMatchObject(ok);
  expect(await world.run(['cp', 'box:d', here('y'), '--exclude', 'out'])).toMatchObject(ok);
  expect(Object.keys(survey(here('y')))).toEqual(['', 'f']);
});

test('an interrupt half-way leaves nothing', async () => {
  write(inside('big'), 'x'.repeat(1000));
  execFileSync('truncate', ['-s', '4G', inside('big')]);
  const interruptWhen = () => leftovers(world.other).length > 0;
  expect(await world.run(['cp', 'box:big', 'other:'], { interruptWhen })).toMatchObject({ exit: 130 });
  expect(Object.keys(survey(world.other))).toEqual(['']);
}, 20_000);

test('a terminal sees progress, which is gone at the end', async () => {
  write(here('f'));
  execFileSync('truncate', ['-s', '300M', here('f')]);
  const result = await world.run(['cp', here('f'), 'box:'], { tty: { stderr: true }, later: hasty });
  expect(result.exit).toBe(0);
  expect(result.stderr).toMatch(/^\r\S 0s copying, \d files?, \S+, \S+\/s/);
  expect(result.stderr.slice(result.stderr.lastIndexOf('\r'))).toMatch(
    /^\r\u001b\[Jcopied 1 file, 300M in \d+\.\ds\n$/,
  );
}, 20_000);

test('a log gets two plain lines when a copy takes long, and nothing with --quiet or --json', async () => {
  write(here('f'));
  const run = (...flags: string[]) => world.run(['cp', ...flags, here('f'), 'box:'], { later: hasty });
  expect((await run()).stderr).toMatch(/^copying\ncopied 1 file, \d+B in \d+\.\ds\n$/);
  expect((await run('--quiet')).stderr).toBe('');
  expect((await run('--json')).stderr).toBe('');
}, 20_000);
