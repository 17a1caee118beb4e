import { array, assert, constantFrom, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseDetachKeys } from '../../../src/lib/session/detach-keys.ts';
import { createKeyFilter, type KeyFilter } from '../../../src/lib/session/key-filter.ts';

const docker = parseDetachKeys('ctrl-p,ctrl-q');

/** What becomes of `chunks`: keys as text, `<leave>`, `<help>`. */
function typed(filter: KeyFilter, ...chunks: string[]): string {
  return chunks
    .flatMap((chunk) => filter.feed(Buffer.from(chunk, 'latin1')))
    .map((each) => (each.kind === 'keys' ? Buffer.from(each.bytes).toString('latin1') : `<${each.kind}>`))
    .join('');
}

describe.each([
  ['in one piece', false],
  ['byte by byte', true],
])('%s', (_how, split) => {
  test.each([
    ['ls -la\r', 'ls -la\r'],
    ['\x10\x11', '<leave>'],
    ['ls\x10\x11', 'ls<leave>'],
    ['\x10x', '\x10x'],
    ['\x10\x10\x11', '\x10<leave>'],
    ['\x11\x10', '\x11'],
    ['~.', '<leave>'],
    ['a~.', 'a~.'],
    ['a\r~.', 'a\r<leave>'],
    ['a\n~.', 'a\n<leave>'],
    ['~~.', '~.'],
    ['~?', '<help>'],
    ['~?~.', '<help><leave>'],
    ['~/bin/x\r', '~/bin/x\r'],
    ['~\x10\x11', '~<leave>'],
    ['\x10~.', '\x10~.'],
    ['\r\x10\r~.', '\r\x10\r<leave>'],
    ['\x1b[200~\x10\x11\r~.\x1b[201~', '\x1b[200~\x10\x11\r~.\x1b[201~'],
    ['\x10\x1b[200~\x11', '\x10\x1b[200~\x11'],
    ['\x1b[200~a\r\x1b[201~~.', '\x1b[200~a\r\x1b[201~~.'],
    ['\x1b[200~a\x1b[201~\r~.', '\x1b[200~a\x1b[201~\r<leave>'],
    ['\xc3\xa9\xff\x00', '\xc3\xa9\xff\x00'],
  ])('%j becomes %j', (text, expected) => {
    expect(typed(createKeyFilter(docker), ...(split ? text : [text]))).toBe(expected);
  });
});

test.each([
  ['kitty', '\x1b[112;5u\x1b[113;5u', '<leave>'],
  [
    'kitty with events and locks',
    '\x1b[57442;5:1u\x1b[112;69:1u\x1b[112;5:3u\x1b[113;5:1u',
    '\x1b[57442;5:1u<leave>',
  ],
  ['kitty, all keys as codes', '\x1b[13u\x1b[96:126;2;126u\x1b[46u', '\x1b[13u<leave>'],
  ['xterm', '\x1b[27;5;112~\x1b[27;5;113~', '<leave>'],
  ['another key between', '\x1b[112;5u\x1b[97;5u', '\x1b[112;5u\x1b[97;5u'],
  ['with Alt too', '\x1b[112;7u\x1b[113;7u', '\x1b[112;7u\x1b[113;7u'],
])('keys as %s sends them are known', (_who, text, expected) => {
  expect(typed(createKeyFilter(docker), text)).toBe(expected);
});

test('a beginning that is released is passed on once, and does not count any more', () => {
  const filter = createKeyFilter(docker);
  expect(typed(filter, 'a\x10')).toBe('a');
  expect(filter.waits).toBe(true);
  expect([...filter.release()]).toEqual([0x10]);
  expect(filter.waits).toBe(false);
  expect(typed(filter, '\x11')).toBe('\x11');
});

test('a ~ waits without a limit', () => {
  const filter = createKeyFilter(docker);
  expect(typed(filter, '~')).toBe('');
  expect(filter.waits).toBe(false);
  expect(typed(filter, '.')).toBe('<leave>');
});

test('a sequence that repeats itself is found at every place', () => {
  expect(typed(createKeyFilter(parseDetachKeys('a,a,b')), 'xaaaab')).toBe('xaa<leave>');
});

describe('none', () => {
  const none = parseDetachKeys('none');

  test('passes every key on', () => {
    expect(typed(createKeyFilter(none), '\x10\x11\r~.~?')).toBe('\x10\x11\r~.~?');
  });

  test('~. leaves a dead connection all the same, wherever it is typed', () => {
    let isDown = false;
    const filter = createKeyFilter(none, () => isDown);
    expect(typed(filter, 'a~.')).toBe('a~.');
    isDown = true;
    expect(typed(filter, 'a~~~.')).toBe('a~~<leave>');
  });
});

test('no key is lost, doubled or moved, however they come', () => {
  const keys = constantFrom(
    '\x10',
    '~',
    '\r',
    'a',
    '\x1b[200~',
    '\x1b[201~',
    '\x1b[112;5u',
    '\x1b',
    '[',
    '2',
  );
  assert(
    property(array(array(keys)), (chunks) => {
      const filter = createKeyFilter(docker);
      const text = typed(filter, ...chunks.map((chunk) => chunk.join('')), 'z');
      // Only a tilde after a tilde at the beginning of a line goes away.
      expect(text.replaceAll('~', '')).toBe(`${chunks.flat().join('')}z`.replaceAll('~', ''));
    }),
  );
});
