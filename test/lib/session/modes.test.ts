import { array, assert, constantFrom, integer, property } from 'fast-check';
import { expect, test } from 'vitest';
import { createModes } from '../../../src/lib/session/modes.ts';

function modesAfter(...chunks: string[]) {
  const modes = createModes();
  for (const chunk of chunks) modes.feed(Buffer.from(chunk, 'latin1'));
  return modes;
}

test.each([
  ['plain text', 'hello\r\n$ ', ''],
  ['what was put off again', '\x1b[?1049h\x1b[?25l\x1b[1mx\x1b[0m\x1b[?25h\x1b[?1049l', ''],
  ['the alternate screen', '\x1b[?1049h', '\x1b[?1049l'],
  ['an old alternate screen', '\x1b[?47h', '\x1b[?47l'],
  ['a mouse', '\x1b[?1000;1006h', '\x1b[?1000;1006l'],
  ['another mouse', '\x1b[?1002h\x1b[?1015h\x1b[?1003h\x1b[?1016h', '\x1b[?1002;1003;1015;1016l'],
  ['bracketed paste', '\x1b[?2004h', '\x1b[?2004l'],
  ['focus', '\x1b[?1004h', '\x1b[?1004l'],
  ['a hidden cursor', '\x1b[?25l', '\x1b[?25h'],
  ['application keys and keypad', '\x1b[?1h\x1b=', '\x1b[?1l\x1b>'],
  ['kitty keys pushed twice', '\x1b[>1u\x1b[>3u', '\x1b[<2u'],
  ['kitty keys popped', '\x1b[>1u\x1b[>3u\x1b[<2u', ''],
  ['kitty keys set', '\x1b[=5u', '\x1b[=0u'],
  ['kitty keys on the alternate screen', '\x1b[>1u\x1b[?1049h\x1b[>7u', '\x1b[<1u\x1b[?1049l\x1b[<1u'],
  ['kitty keys of an alternate screen that is left', '\x1b[?1049h\x1b[>7u\x1b[?1049l', ''],
  ['modifyOtherKeys', '\x1b[>4;2m', '\x1b[>4m'],
  ['modifyOtherKeys put off', '\x1b[>4;2m\x1b[>4m', ''],
  ['synchronized output', '\x1b[?2026h', '\x1b[?2026l'],
  ['a scroll region', '\x1b[3;10r', '\x1b[?6;69l\x1b[r\x1b[999;1H'],
  ['a scroll region put off', '\x1b[3;10r\x1b[r', ''],
  ['origin', '\x1b[?6h', '\x1b[?6;69l\x1b[r\x1b[999;1H'],
  ['colour', '\x1b[31mred', '\x1b[m'],
  ['colour 0 is a colour', '\x1b[38;5;0m', '\x1b[m'],
  ['black in full', '\x1b[48;2;0;0;0m', '\x1b[m'],
  ['colour put off among others', '\x1b[31m\x1b[1;0m', ''],
  ['line drawing', '\x1b(0', '\x1b(B\x0f'],
  ['line drawing put off', '\x1b(0lqk\x1b(B', ''],
  ['no wrapping', '\x1b[?7l', '\x1b[?7h'],
  ['insert', '\x1b[4h', '\x1b[4l'],
  ['a cursor of another shape', '\x1b[5 q', '\x1b[0 q'],
  ['a link', '\x1b]8;;http://x\x1b\\text', '\x1b]8;;\x1b\\'],
  ['reports of size and colour scheme', '\x1b[?2031h\x1b[?2048h', '\x1b[?2031;2048l'],
  ['a full reset', '\x1b[?1049h\x1b[?1000h\x1b[>1u\x1bc', ''],
  ['a code that is cut off', '\x1b[?25l\x1b[3', '\x1b\\\x1b[?25h'],
  ['what only looks like a code', '\x1b]0;\x1b\\?1049h', ''],
  ['a code broken off', '\x1b[?104\x189h\x1b[?10\x1b[?25l', '\x1b[?25h'],
])('%s', (_what, output, off) => {
  expect(modesAfter(output).off()).toBe(off);
});

const codes = [
  ...[
    '\x1b[?1049h',
    '\x1b[?1049l',
    '\x1b[?1000;1006h',
    '\x1b[?1006l',
    '\x1b[>1u',
    '\x1b[<u',
    '\x1b[=3;2u',
    '\x1b=',
  ],
  ...[
    '\x1b[31m',
    '\x1b[m',
    '\x1b(0',
    '\x1b[?25l',
    '\x1b[?7l',
    '\x1b[2 q',
    '\x1b[>4;1m',
    'text',
    '\x1b]0;t\x07',
    '\x1b',
  ],
];

test('it does not matter where the output is split', () => {
  assert(
    property(
      array(constantFrom(...codes)),
      array(integer({ min: 1, max: 9 }), { minLength: 1 }),
      (parts, cuts) => {
        const text = parts.join('');
        const pieces: string[] = [];
        for (let at = 0, cut = 0; at < text.length; cut++) {
          const length = cuts[cut % cuts.length] ?? 1;
          pieces.push(text.slice(at, at + length));
          at += length;
        }
        expect(modesAfter(...pieces).off()).toBe(modesAfter(text).off());
      },
    ),
  );
});

test('a terminal on which everything is put off is as new, and on() makes it the same again', () => {
  assert(
    property(array(constantFrom(...codes.slice(0, -1))), (parts) => {
      const modes = modesAfter(parts.join(''));
      const off = modesAfter(parts.join(''), modes.off());
      expect(off.off()).toBe('');
      const again = modesAfter(modes.on());
      expect(again.on()).toBe(modes.on());
      expect(again.inputOn()).toBe(modes.inputOn());
    }),
  );
});

test('inputOn is what changes keys and nothing that shows', () => {
  const modes = modesAfter('\x1b[?1049h\x1b[?25l\x1b[?1002;1006h\x1b[?2004h\x1b=\x1b[>1u\x1b[31m');
  expect(modes.inputOn()).toBe('\x1b[>1u\x1b=\x1b[?1002;1006;2004h');
  expect(modes.alternate).toBe(true);
});
