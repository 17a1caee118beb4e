import { expect, test } from 'vitest';
import { cutAt } from '../../../../src/lib/backends/daemon/plain/mark.ts';

const MARK = 'sbx:aab:end';

/** What comes before the mark and after it, with the text in pieces of `size`. */
function cut(text: string, size: number): [before: string, after: string | undefined] {
  const take = cutAt(MARK);
  let before = '';
  for (let at = 0; at < text.length; at += size) {
    const found = take(Buffer.from(text.slice(at, at + size)));
    before += found.before.toString();
    if (found.after !== undefined) return [before, found.after.toString() + text.slice(at + size)];
  }
  return [before, undefined];
}

test.each([1, 2, 3, 5, 11, 100])('a mark is found in pieces of %i bytes', (size) => {
  expect(cut(`all${MARK}rest`, size)).toEqual(['all', 'rest']);
  expect(cut(`sbx:a${MARK}`, size)).toEqual(['sbx:a', '']);
  expect(cut(`sbx:aab:en ${MARK}`, size)).toEqual(['sbx:aab:en ', '']);
});

test('what may become the mark is held back, and nothing else', () => {
  expect(cut('xsbx:aa', 7)).toEqual(['x', undefined]);
  expect(cut('xsbx:ab', 7)).toEqual(['xsbx:ab', undefined]);
});
