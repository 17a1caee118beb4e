/** That Tab knows what to offer everywhere, and that the scripts are whole. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dialectOf } from '../../src/lib/cli/completion/answer.ts';
import { completers } from '../../src/lib/cli/completion/completers.ts';
import { type Choices, choicesOf, completersOf } from '../../src/lib/cli/completion/facts.ts';
import { baseFlags } from '../../src/lib/cli/flags.ts';
import { requireOrSkip } from '../support/require.ts';
import { root } from './sources.ts';

const choices: Choices = choicesOf({ root, commands: {}, aliases: {} });
const script = (file: string) => readFileSync(join(root, 'completions', file), 'utf8');

test('every argument and every value of a flag says how it is completed', () => {
  const silent = choices.commands.flatMap(({ id, args, flags }) => [
    ...args
      .filter(({ completes, options }) => completes === undefined && options === undefined)
      .map(() => `an argument of ${id}`),
    ...Object.entries({ ...baseFlags, ...flags } as typeof flags)
      .filter(
        ([, flag]) => flag.type === 'option' && flag.completes === undefined && flag.options === undefined,
      )
      .map(([name]) => `${id} --${name}`),
  ]);
  expect(choices.commands.length).toBeGreaterThan(50);
  // To be written beside its description: `completes`, with a name of completers.ts, or 'none'.
  expect(silent).toEqual([]);
});

test('every completer that is named is there, and every one that is there is named', () => {
  const named = choices.commands.flatMap(({ args, flags }) =>
    [...args, ...Object.values(flags), ...Object.values(baseFlags as typeof flags)].flatMap((each) =>
      [0, 1].flatMap((index) => completersOf(each, index)).map((name) => name.split(':')[0] ?? ''),
    ),
  );
  expect([...new Set(named)].sort()).toEqual(Object.keys(completers).sort());
});

describe('the scripts', () => {
  test('are four, and each says in its first lines whose it is', () => {
    const files = readdirSync(join(root, 'completions')).sort();
    expect(files).toEqual(['_sbx', 'sbx.bash', 'sbx.fish', 'sbx.ps1']);
    for (const file of files) expect(script(file)).toMatch(/^(#compdef sbx\n)?# \w+ completion for sbx: /);
  });

  for (const [shell, file, ...args] of [
    ['bash', 'sbx.bash', '-n'],
    ['zsh', '_sbx', '-n'],
    ['fish', 'sbx.fish', '--no-execute'],
  ] as const) {
    const parses = requireOrSkip(spawnSync(shell, ['--version']).status === 0, shell);
    parses(`${file} is what ${shell} reads`, () => {
      const { status, stderr } = spawnSync(shell, [...args, join(root, 'completions', file)], {
        encoding: 'utf8',
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    });
  }

  const checked = requireOrSkip(spawnSync('shellcheck', ['--version']).status === 0, 'shellcheck');
  checked('sbx.bash is clean', () => {
    // Where names come one to an array, and where words are split on purpose.
    const args = ['--shell=bash', '--format=gcc', '--exclude=SC2207', join(root, 'completions/sbx.bash')];
    expect(spawnSync('shellcheck', args, { encoding: 'utf8' }).stdout).toBe('');
  });

  test.each([
    ['sbx.bash', 'bash "$2"'],
    ['_sbx', 'zsh'],
    ['sbx.fish', 'fish'],
    ['sbx.ps1', 'powershell $said 2>$null'],
  ])('%s asks sbx for its own shell, and lets it say nothing', (file, words) => {
    expect(script(file)).toContain(`completion complete ${words}`);
    expect(script(file)).toMatch(/completion complete .*2>(\/dev\/null|\$null)/);
  });

  test('sbx.ps1 closes what it opens, and reads what sbx says', () => {
    const open: string[] = [];
    const code = script('sbx.ps1')
      .replace(/#.*$/gm, '')
      .replace(/'(?:[^']|'')*'/g, "''");
    const pairs: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };
    for (const sign of code.match(/[()[\]{}]/g) ?? []) {
      const opened = pairs[sign];
      if (opened === undefined) open.push(sign);
      else expect(open.pop()).toBe(opened);
    }
    expect(open).toEqual([]);
    const said = Buffer.from('[""]').toString('base64');
    const answer = dialectOf('powershell', [said]).write({ candidates: [{ value: 'x' }], before: '' });
    const { items, ...orders } = JSON.parse(answer) as { items: object[] };
    const reads = (name: string) =>
      [
        ...new Set([...code.matchAll(new RegExp(`\\$${name}\\.(\\w+)`, 'g'))].map(([, field]) => field)),
      ].sort();
    expect(reads('answer')).toEqual(['items', ...Object.keys(orders)].sort());
    expect(reads('item')).toEqual(Object.keys(items[0] ?? {}).sort());
  });
});
