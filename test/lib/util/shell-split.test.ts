import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quoteArgv } from '../../../src/lib/util/shell-quote.ts';
import { splitWords } from '../../../src/lib/util/shell-split.ts';

test('takes apart what was quoted', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 12 })), (words) => {
      expect(splitWords(quoteArgv(words))).toEqual(words);
    }),
  );
});

test.each([
  `a  b\tc`,
  `a'b c'"d e"\\ f`,
  `''  "" x`,
  `"a\\"b" 'a\\b' "a\\\\b" "a\\nb"`,
  `--label 'a=b c' --env "X=it's"`,
  `"\\$HOME" '$HOME' \\$HOME`,
  '',
])('%s is what sh makes of it', (line) => {
  const sh = execFileSync('sh', ['-c', `printf '%s\\0' ${line}`]).toString();
  expect(
    splitWords(line)
      .map((word) => `${word}\0`)
      .join('') || '\0',
  ).toBe(sh);
});

test.each([
  ["a 'b", 'a quote is not closed'],
  ['a "b', 'a quote is not closed'],
  ['a\\', 'a quote is not closed'],
  ['a $HOME', '$ has to stand in single quotes'],
  ['a "$HOME"', '$ has to stand in single quotes'],
  ['a | b', '| has to stand'],
  ['a; b', '; has to stand'],
  ['a `b`', '` has to stand'],
  ['a *', '* has to stand'],
])('%s is refused', (line, message) => {
  expect(() => splitWords(line)).toThrow(message);
});
