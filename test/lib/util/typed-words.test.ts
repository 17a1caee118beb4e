import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  isPlain,
  type OpenQuote,
  readBashWord,
  readFishWord,
  writeBashWord,
  writePowerShellWord,
} from '../../../src/lib/util/typed-words.ts';

const CLOSING: Readonly<Record<OpenQuote, string>> = { '': '', "'": "'", '"': '"', "$'": "'" };
const OPEN = Object.keys(CLOSING) as OpenQuote[];
const ODD = [
  'a b',
  "it's",
  '"',
  '\\',
  '$HOME',
  '$(id)',
  '`id`',
  '!x',
  'two\nlines',
  '\u001b[31m',
  '\u009b',
  'ünï',
  '日本',
  '👩‍👩‍👧',
  '\u202e',
  '-x',
  '~',
  '~root',
  '#',
  '*',
  '{a,b}',
  'a=b:c',
  '\t',
  '\r\n',
  '',
  '&&',
  '(x)',
  'a\\',
];
const texts = fc
  .oneof(
    fc.constantFrom(...ODD),
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: fc.constantFrom(...' \\\'"$`!\n\u001b(){}~;&|<>*?#=:a') }),
  )
  .filter((text) => !text.includes('\0'));

/** What bash makes of these words. */
function bash(words: readonly string[]): string[] {
  const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' };
  const out = execFileSync('bash', ['--norc', '-c', `printf '%s\\0' ${words.join(' ')}`], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return out.split('\0').slice(0, -1);
}

describe('a word of bash', () => {
  test.each(OPEN)('that is written behind %j is for bash what it was', (open) => {
    const lists = fc.array(texts, { minLength: 40, maxLength: 40 });
    fc.assert(
      fc.property(lists, (list) => {
        const words = [...list, ...ODD];
        const written = words.map((word) => `${open}${writeBashWord(word, open)}${CLOSING[open]}`);
        // An empty word that no quote holds is none.
        expect(bash(written.map((word) => word || "''"))).toEqual(words);
      }),
      { numRuns: 10 },
    );
  });

  test.each(OPEN)('that is written behind %j shows no control character', (open) => {
    fc.assert(
      fc.property(
        texts,
        (text) => isPlain(writeBashWord(text, open)) && !writeBashWord(text, open).includes('\n'),
      ),
    );
  });

  test.each(OPEN)('that is written behind %j is read as what it was', (open) => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(readBashWord(`${open}${writeBashWord(text, open)}${CLOSING[open]}`)).toEqual({
          text,
          open: '',
        });
      }),
    );
  });

  test.each<[string, string, OpenQuote]>([
    ['box', 'box', ''],
    ["'my b", 'my b', "'"],
    ['"my $b', 'my $b', '"'],
    ["$'a\\nb", 'a\nb', "$'"],
    ['my\\ b', 'my b', ''],
    ['my\\', 'my', ''],
    [`'a'"b"c`, 'abc', ''],
    ['"a\\"b\\c', 'a"b\\c', '"'],
    ["$'\\x41\\u00e9\\U0001f600\\''", "Aé😀'", ''],
    ['$HOME', '$HOME', ''],
  ])('%s is %j', (raw, text, open) => {
    expect(readBashWord(raw)).toEqual({ text, open });
  });
});

test.each([
  ['box', 'box'],
  ["'my b", 'my b'],
  ["'it\\'s", "it's"],
  ['"a\\"b\\$c\\d', 'a"b$c\\d'],
  ['my\\ b\\n', 'my b\n'],
  ["a'b'", 'ab'],
  ["'a\\b", 'a\\b'],
])('%s of fish is %j', (raw, text) => {
  expect(readFishWord(raw)).toBe(text);
});

test.each([
  ['box:/etc/hosts', 'box:/etc/hosts'],
  ['a b', "'a b'"],
  ["it's", "'it''s'"],
  ['it’s', "'it’’s'"],
  ['$HOME', "'$HOME'"],
  ['a,b', "'a,b'"],
  ['@x', "'@x'"],
  ['two\nlines', '"two$([char]10)lines"'],
  ['\u001b[31m$x`"“', '"$([char]27)[31m`$x```"`“"'],
  ['', "''"],
])('%j for PowerShell is %s', (text, word) => {
  expect(writePowerShellWord(text)).toBe(word);
});

test('a line break is the one control character that shells can write by themselves', () => {
  expect(isPlain('two\nlines ünï')).toBe(true);
  for (const text of ['\u001b[31m', '\u009b', '\u202e', '\r', '\t'])
    expect(isPlain(text), JSON.stringify(text)).toBe(false);
});
