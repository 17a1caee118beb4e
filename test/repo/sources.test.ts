/** What every source keeps to. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { requireOrSkip } from '../support/require.ts';
import { codeOf, filesBelow, root, sources } from './sources.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const tests = filesBelow('test', '.ts');

test('no source is longer than 400 lines', () => {
  const long = [...filesBelow('src', '.ts', '.tsx', '.sh'), ...filesBelow('scripts', '.mjs')].filter(
    (path) => read(path).split('\n').length > 401,
  );
  expect(long).toEqual([]);
});

test('names of files are lower case with dashes', () => {
  const odd = [...sources.map(({ path }) => path), ...tests].filter(
    (path) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|entry|fixture|d))*\.tsx?$/.test(basename(path)),
  );
  expect(odd).toEqual([]);
});

test('nothing is left to do, switched off or swallowed', () => {
  const banned: readonly (readonly [string, RegExp])[] = [
    ['a note to oneself', /\b(TODO|FIXME|XXX|HACK)\b/],
    ['an empty catch', /catch\s*(\([^)]*\))?\s*\{\s*\}/],
    ['a failure that becomes an answer', /\.catch\(\s*\(\)\s*=>\s*(\{\s*\}|null|\[\])\s*\)/],
    ['a dropped failure without a reason', /^(?!\s*\/\/).*\n.*\.catch\(\(\) => undefined\)/m],
    ['a type error that is hidden', /@ts-(ignore|nocheck|expect-error)/],
    ['any', /(:|as|<)\s*any\b/],
    ['a banner', /^\s*\/[/*]+\s*[-=*#]{5,}/m],
  ];
  const found = sources.flatMap((source) =>
    banned
      .filter(([name, pattern]) =>
        pattern.test(/note|hidden|banner|reason/.test(name) ? source.text : codeOf(source)),
      )
      .map(([name]) => `${source.path}: ${name}`),
  );
  expect(found).toEqual([]);
});

test('a test is not left alone with only()', () => {
  const lonely = tests.filter((path) =>
    /\b(test|it|describe)\.only\b/.test(read(path).replace(/`.*`|'.*'|\/.*\//g, '')),
  );
  expect(lonely).toEqual([]);
});

test('tests are skipped with a reason that CI can refuse', () => {
  const allowed = [
    'test/support/require.ts',
    'test/repo/sources.test.ts',
    // What a backend does not have is not tested; the suite's own test says what that is.
    'test/conformance/harness.ts',
    'test/conformance/index.ts',
    'test/interop/hotcell/harness.ts',
    // Beside a test that fails in CI when the whole file cannot run.
    'test/e2e/exec.test.ts',
    // What a tool cannot do is part of its description.
    'test/lib/guest/relay.test.ts',
  ];
  const silent = tests.filter(
    (path) =>
      !allowed.includes(path) && /\b(test|it|describe)\.(skip|skipIf|runIf|todo|fails)\b/.test(read(path)),
  );
  expect(silent).toEqual([]);
});

test('relative imports in tests point to files', () => {
  const lost = tests.flatMap((path) =>
    [...read(path).matchAll(/from '(\.[^']+)'/g)]
      .map(([, target = '']) => join(dirname(path), target))
      .filter((target) => !tests.includes(target) && !sources.some((source) => source.path === target))
      .map((target) => `${path}: ${target}`),
  );
  expect(lost.filter((line) => !/\.(sh|mjs|json)$/.test(line))).toEqual([]);
});

describe('shell', () => {
  const hasShellcheck = spawnSync('shellcheck', ['--version']).status === 0;
  const checked = requireOrSkip(hasShellcheck, 'shellcheck');

  checked('every program is clean', () => {
    const scripts = [...filesBelow('src', '.sh')];
    expect(scripts.length).toBeGreaterThan(20);
    // Single quotes around text for a shell inside, and loops over words, are meant.
    const options = ['--shell=sh', '--format=gcc', '--exclude=SC2016,SC2013'];
    const { stdout } = spawnSync('shellcheck', [...options, ...scripts], { cwd: root, encoding: 'utf8' });
    expect(stdout).toBe('');
  });

  checked('so is .ci/run', () => {
    expect(spawnSync('shellcheck', ['.ci/run'], { cwd: root, encoding: 'utf8' }).stdout).toBe('');
  });

  test('every program parses in the shell of this machine', () => {
    for (const script of filesBelow('src', '.sh')) execFileSync('/bin/sh', ['-n', join(root, script)]);
  });
});
