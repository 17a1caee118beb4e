import fc from 'fast-check';
import { expect, test } from 'vitest';
import { twoColumns, wrap } from '../../../src/lib/ui/help-layout.ts';
import { width } from '../../../src/lib/ui/text.ts';

test('wrapping keeps every word, in order, and breaks only where it must', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom('a', 'ü', '語', '-') })),
      fc.integer({ min: 4, max: 40 }),
      fc.integer({ min: 0, max: 3 }),
      (words, columns, indent) => {
        const lines = wrap(words.join(' '), columns, indent);
        expect(lines.join(' ').split(' ').filter(Boolean)).toEqual(words);
        for (const line of lines) expect(width(line) <= columns || !line.trim().includes(' ')).toBe(true);
        for (const [at, line] of lines.slice(1).entries()) {
          const [first = ''] = line.trim().split(' ');
          expect(width(`${lines[at]} ${first}`)).toBeGreaterThan(columns);
        }
      },
    ),
  );
});

test('paragraphs and blank lines stay', () => {
  expect(wrap('one two\n\nthree', 5)).toEqual(['one', 'two', '', 'three']);
});

test('two columns line up; a long label has its text below', () => {
  expect(
    twoColumns(
      [
        { label: '-a', text: 'one' },
        { label: '--long', text: 'two' },
      ],
      60,
    ),
  ).toEqual(['  -a      one', '  --long  two']);
  expect(
    twoColumns(
      [
        { label: 'x'.repeat(30), text: 'one' },
        { label: 'y', text: 'two' },
      ],
      60,
    ),
  ).toEqual([`  ${'x'.repeat(30)}`, `${' '.repeat(28)}one`, `  y${' '.repeat(25)}two`]);
});

test('where there is no room for two columns the text stands below', () => {
  expect(twoColumns([{ label: '--name', text: 'what it is called' }], 20)).toEqual([
    '  --name',
    '    what it is',
    '    called',
  ]);
});
