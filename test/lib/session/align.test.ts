import { assert, integer, property, uint8Array } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { overlapOf } from '../../../src/lib/session/align.ts';
import { createLiveOutput } from '../../../src/lib/session/live-output.ts';

const overlap = (recorded: string, live: string) => overlapOf(Buffer.from(recorded), Buffer.from(live));

test.each([
  ['nothing came', '$ ls\r\nfile\r\n$ ', '', 0],
  ['all that came is recorded', 'one two three', 'three', 5],
  ['a part of it is recorded', 'one two three', ' three four', 6],
  ['the recording is ahead', 'head the line that is complete and more', 'the line that is complete', 34],
  ['two bytes are chance', 'prompt$ ', '$ is what came later', 0],
  ['nothing in common', 'abcdefgh', 'ijklmnop', 0],
  ['repetitions', 'y\ny\ny\ny\ny\ny\ny\ny\ny\n', 'y\ny\ny\ny\ny\ny\ny\ny\ny\ny\n', 18],
])('%s', (_what, recorded, live, length) => {
  expect(overlap(recorded, live)).toBe(length);
});

describe('a recording and a connection become one output', () => {
  /** Prints `recorded`, with `before` of the connection known when it comes and `after` following. */
  function joined(
    recorded: string | Uint8Array,
    before: (string | Uint8Array)[],
    after: (string | Uint8Array)[],
  ): string {
    const shown: Uint8Array[] = [];
    const live = createLiveOutput((bytes) => shown.push(Buffer.from(bytes)));
    for (const bytes of before) live.take(Buffer.from(bytes));
    expect(shown).toEqual([]);
    live.begin({ bytes: Buffer.from(recorded), isCut: false, prefix: '' });
    for (const bytes of after) live.take(Buffer.from(bytes));
    return Buffer.concat(shown).toString('latin1');
  }

  test('whatever is where when', () => {
    const whole = Buffer.from(Array.from({ length: 400 }, (_, index) => `${index} `).join(''));
    const at = integer({ min: 0, max: whole.length });
    assert(
      property(at, at, at, (a, b, c) => {
        const [attached = 0, read = 0, known = 0] = [a, b, c].sort((x, y) => x - y);
        // Attached at one place; the recording is read, and what came until then is known, at two later ones, either first.
        for (const [recordedTo, liveTo] of [
          [read, known],
          [known, read],
        ] as const) {
          // A few bytes may be chance, and are printed rather than lost.
          if (Math.min(recordedTo, liveTo) - attached < 16 && recordedTo > attached) continue;
          const shown = joined(
            whole.subarray(0, recordedTo),
            [whole.subarray(attached, liveTo)],
            [whole.subarray(liveTo)],
          );
          expect(shown).toBe(whole.toString());
        }
      }),
    );
  });

  test('a recorder that is late is caught up with, as long as nothing comes', () => {
    const shown: Uint8Array[] = [];
    const live = createLiveOutput((bytes) => shown.push(Buffer.from(bytes)));
    const text = () => Buffer.concat(shown).toString();
    live.begin({ bytes: Buffer.from('old '), isCut: false, prefix: '' });
    live.catchUp(Buffer.from('old '));
    expect(text()).toBe('old ');
    live.catchUp(Buffer.from('old late '));
    expect(text()).toBe('old late ');
    live.take(Buffer.from('late new'));
    expect(text()).toBe('old late new');
    live.catchUp(Buffer.from('old late new and more'));
    expect(text()).toBe('old late new');
  });

  /** What is printed once more when the recording is read again while the connection has brought `seen` and waits with `meanwhile`. */
  function again(recorded: string, isCut: boolean, seen: string, meanwhile = ''): string {
    const shown: Uint8Array[] = [];
    const live = createLiveOutput((bytes) => shown.push(Buffer.from(bytes)));
    live.begin();
    live.take(Buffer.from(seen));
    live.hold();
    if (meanwhile !== '') live.take(Buffer.from(meanwhile));
    shown.length = 0;
    live.begin({ bytes: Buffer.from(recorded), isCut, prefix: '' });
    return Buffer.concat(shown).toString();
  }
  const said = 'box$ echo after\r\nafter\r\nbox$ ';
  const old = 'what has been there before\r\n';

  test.each([
    ['has all', `${old}${said}`, true, said],
    ['is late by a command, its only prompt the first', 'box$ ', false, said],
    ['is late by a command', `${old}box$ `, false, `${old}${said}`],
    ['is late by a part of a line', `${old}box$ echo af`, false, `${old}${said}`],
    ['is late, and its beginning not read', `${old}box$ `, true, `more, ${old}${said}`],
    ['is late, and the connection younger', `${old}${old}box$ `, false, `${old}${said}`],
  ])('a recording read again that %s: all is shown, once', (_what, recorded, isCut, seen) => {
    const shown = again(recorded, isCut, seen, ' meanwhile');
    expect(shown.endsWith(`${said} meanwhile`)).toBe(true);
    expect(shown.split('echo after')).toHaveLength(2);
  });

  test('a recording read again that is no longer than at first does not set back what came since', () => {
    const shown: Uint8Array[] = [];
    const live = createLiveOutput((bytes) => shown.push(Buffer.from(bytes)));
    const recorded = { bytes: Buffer.from('box$ '), isCut: false, prefix: '' };
    live.begin(recorded);
    live.take(Buffer.from(said.slice('box$ '.length)));
    for (const _twice of [1, 2]) {
      shown.length = 0;
      live.hold();
      live.begin(recorded);
      expect(Buffer.concat(shown).toString()).toBe(said);
    }
  });

  test('a recording read again that has what never came is shown as it is', () => {
    expect(again(`${old}lost\r\nbox$ `, false, `${old}box$ `)).toBe(`${old}lost\r\nbox$ `);
    expect(again('lost\r\nbox$ ', false, '$ and more')).toBe('lost\r\nbox$ ');
  });

  test('what follows differently is not left out', () => {
    expect(joined('0123456789abcdefXYZ', ['0123456789abcdef'], ['XQ'])).toBe('0123456789abcdefXYZQ');
  });

  test('whole codes are not broken where they meet', () => {
    expect(joined('text \x1b[3', [], ['1mred'])).toBe('text \x1b[31mred');
  });

  test('a session that prints more than can wait goes on without', () => {
    const shown: Uint8Array[] = [];
    const live = createLiveOutput((bytes) => shown.push(Buffer.from(bytes)));
    live.take(Buffer.alloc(1 << 20, 'a'));
    expect(shown).toEqual([]);
    live.take(Buffer.from('b'));
    live.begin({ bytes: Buffer.from('old'), isCut: false, prefix: '' });
    const text = Buffer.concat(shown).toString();
    expect(text.length).toBe((1 << 20) + 1);
    expect(text.endsWith('b')).toBe(true);
  });

  test('any bytes without a recording', () => {
    assert(
      property(uint8Array(), uint8Array(), (before, after) => {
        const shown: Uint8Array[] = [];
        const live = createLiveOutput((bytes) => shown.push(Buffer.from(bytes)));
        live.take(before);
        live.begin();
        live.take(after);
        expect(Buffer.concat(shown)).toEqual(Buffer.concat([before, after]));
      }),
    );
  });

  test('modes that change keys come on at the end only', () => {
    const recorded = '\x1b[?1000h\x1b[?1049hvim\x1b[?2004h\x1b[?1000l';
    expect(joined(recorded, [], ['live'])).toBe('\x1b[?1049hvim\x1b[?2004hlive');
  });
});
