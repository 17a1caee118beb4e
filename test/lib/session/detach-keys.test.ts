import { expect, test } from 'vitest';
import { describeDetachKeys, parseDetachKeys } from '../../../src/lib/session/detach-keys.ts';

test.each([
  ['ctrl-p,ctrl-q', [0x10, 0x11], 'Ctrl-P Ctrl-Q'],
  ['ctrl-a,d', [0x01, 0x64], 'Ctrl-A d'],
  [
    'ctrl-@,ctrl-[,ctrl-\\,ctrl-],ctrl-^,ctrl-_',
    [0, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f],
    'Ctrl-@ Ctrl-[ Ctrl-\\ Ctrl-] Ctrl-^ Ctrl-_',
  ],
  ['DEL', [0x7f], 'Del'],
  ['Q', [0x51], 'Q'],
])('%s', (text, sequence, words) => {
  const keys = parseDetachKeys(text);
  expect(keys).toEqual({ sequence, tilde: true });
  expect(describeDetachKeys(keys)).toBe(words);
});

test('none takes no key at all', () => {
  expect(parseDetachKeys('none')).toEqual({ sequence: [], tilde: false });
});

test('a sequence that begins with ~ is the only one', () => {
  expect(parseDetachKeys('~,d')).toEqual({ sequence: [0x7e, 0x64], tilde: false });
});

test.each(['', 'ctrl-', 'ctrl-é', 'ctrl-pq', 'p,', 'ab', 'ctrl-1', ' '])('%j is no key', (text) => {
  expect(() => parseDetachKeys(text)).toThrow(/is no key/);
});
