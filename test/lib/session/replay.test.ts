import xterm from '@xterm/headless';
import { array, assert, constantFrom, integer, property } from 'fast-check';
import { expect, test } from 'vitest';
import { cleanStart, createCleaner } from '../../../src/lib/session/replay.ts';

function cleaned(...chunks: (string | Buffer)[]): string {
  const cleaner = createCleaner();
  const shown = chunks.map((chunk) => cleaner.feed(Buffer.from(chunk)));
  return Buffer.concat([...shown, cleaner.rest]).toString();
}

const ASKS = {
  DA1: '\x1b[c',
  'DA1 with 0': '\x1b[0c',
  DA2: '\x1b[>c',
  DA3: '\x1b[=c',
  DECID: '\x1bZ',
  DSR: '\x1b[5n',
  CPR: '\x1b[6n',
  DECXCPR: '\x1b[?6n',
  'colour scheme': '\x1b[?996n',
  DECRQM: '\x1b[?2026$p',
  'DECRQM of ANSI': '\x1b[4$p',
  DECRQSS: '\x1bP$qm\x1b\\',
  XTVERSION: '\x1b[>0q',
  XTGETTCAP: '\x1bP+q544e\x1b\\',
  'foreground?': '\x1b]10;?\x07',
  'background?': '\x1b]11;?\x1b\\',
  'palette?': '\x1b]4;1;?\x07',
  'clipboard read': '\x1b]52;c;?\x07',
  'clipboard write': '\x1b]52;c;aGk=\x07',
  'kitty keys?': '\x1b[?u',
  'kitty graphics': '\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\',
  'window in pixels': '\x1b[14t',
  'size in cells': '\x1b[18t',
  'title report': '\x1b[21t',
  'window moves': '\x1b[3;0;0t',
  DECREQTPARM: '\x1b[x',
  DECRQPSR: '\x1b[1$w',
  checksum: '\x1b[1;1;1;1;5;5*y',
  sixels: '\x1b[?1;1;0S',
  XTQMODKEYS: '\x1b[?4m',
  printer: '\x1b[5i',
  'keys that are defined': '\x1bP1;1|17/41\x1b\\',
  'tmux passthrough': '\x1bPtmux;\x1b\x1b[6n\x1b\\',
  'iTerm file': '\x1b]1337;File=name=eA==:AAAA\x07',
  notice: '\x1b]9;hello\x07',
  ENQ: '\x05',
  bell: '\x07',
  'mouse on': '\x1b[?1000;1006h',
  'kitty keys on': '\x1b[>1u',
  'size reports on': '\x1b[?2048h',
  'CSI in one character': '\u009b6n',
  'OSC in one character': '\u009d10;?\u009c',
};

test.each(Object.entries(ASKS))('%s is left out', (_what, code) => {
  expect(cleaned(`before${code}after`)).toBe('beforeafter');
  expect(cleaned(...`before${code}after`)).toBe('beforeafter');
});

const SHOWS = {
  text: 'héllo wörld — 日本語 🎉\r\n\tx\b',
  colour: '\x1b[1;38;2;1;2;3mred\x1b[m',
  cursor: '\x1b[3;4H\x1b[K\x1b[2J\x1b7\x1b8\x1b[s\x1b[u',
  'alternate screen': '\x1b[?1049h\x1b[?25l\x1b[?7l',
  region: '\x1b[2;10r\x1bM\x1bD',
  'line drawing': '\x1b(0lqk\x1b(B\x0e\x0f',
  title: '\x1b]0;name\x07\x1b]2;name\x1b\\',
  link: '\x1b]8;;http://x\x1b\\x\x1b]8;;\x1b\\',
  'colours that are set': '\x1b]11;#000000\x07\x1b]104\x07',
  sixel: '\x1bP0;1q"1;1;1;1#0@\x1b\\',
  'prompt mark': '\x1b]133;A\x07',
  'soft reset': '\x1b[!p',
};

test.each(Object.entries(SHOWS))('%s is kept', (_what, code) => {
  expect(cleaned(code)).toBe(code);
  expect(cleaned(...code)).toBe(code);
});

test.each([
  ['a code', '\x1b[6\x1b[cn'],
  ['an escape', '\x1b\x1b[c[6n'],
  ['a command', '\x1b]4;1;\x1b[c?\x1b\\'],
])('%s that another breaks off does not become whole when that is left out', (_what, output) => {
  expect(cleaned(output)).not.toContain('\x1b');
});

test('a part of a character that stands alone is no code of an old terminal', () => {
  expect(cleaned(Buffer.from('a\x9b6nb', 'latin1'))).toBe('a6nb');
});

test('a code or character that is cut off at the end waits for its rest', () => {
  const cleaner = createCleaner();
  expect(cleaner.feed(Buffer.from('ab\x1b[6')).toString()).toBe('ab');
  expect(cleaner.rest.toString()).toBe('\x1b[6');
  expect(cleaner.feed(Buffer.from('nc\xe6', 'latin1')).toString()).toBe('c');
  expect([...cleaner.rest]).toEqual([0xe6]);
  expect(cleaner.feed(Buffer.from([0x97, 0xa5])).toString()).toBe('日');
});

test('it does not matter where the output is split', () => {
  const parts = [...Object.values(ASKS), ...Object.values(SHOWS), '\x1b', '\x1b[', '\x1b]', '\xff', '\x18'];
  assert(
    property(
      array(constantFrom(...parts)),
      array(integer({ min: 1, max: 9 }), { minLength: 1 }),
      (codes, cuts) => {
        const bytes = Buffer.from(codes.join(''));
        const pieces: Buffer[] = [];
        for (let at = 0, cut = 0; at < bytes.length; cut++) {
          const length = cuts[cut % cuts.length] ?? 1;
          pieces.push(bytes.subarray(at, at + length));
          at += length;
        }
        expect(cleaned(...pieces)).toBe(cleaned(bytes));
      },
    ),
  );
});

test('whatever is printed of a recording, a terminal answers nothing', async () => {
  const terminal = new xterm.Terminal({ allowProposedApi: true });
  let answers = '';
  terminal.onData((data) => {
    answers += data;
  });
  const write = (data: string) => new Promise<void>((done) => terminal.write(data, done));
  await write(Object.values(ASKS).join('x'));
  expect(answers).not.toBe('');
  answers = '';
  await write(cleaned(Object.values(ASKS).join('x')));
  expect(answers).toBe('');
  terminal.dispose();
});

test.each([
  ['a line', 'ut\x1b[0m\r\nnext', 8],
  ['a code', '6;5Htext\x1b[Kmore', 8],
  ['a character', Buffer.from('日本').subarray(1), 2],
  ['anything', 'text', 0],
])('a recording that is cut begins with %s', (_what, recorded, from) => {
  expect(cleanStart(Buffer.from(recorded))).toBe(from);
});
