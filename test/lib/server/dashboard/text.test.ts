/** What the dashboard makes of texts and numbers, before they are shown. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { costOf } from '../../../../src/lib/server/dashboard/page/cost.ts';
import { eventReader } from '../../../../src/lib/server/dashboard/page/event-text.ts';
import { endOf, logReader } from '../../../../src/lib/server/dashboard/page/log-text.ts';
import { trail, within } from '../../../../src/lib/server/dashboard/page/paths.ts';
import { hashOf, placeOf } from '../../../../src/lib/server/dashboard/page/place.ts';
import { linePath, series } from '../../../../src/lib/server/dashboard/page/series.ts';
import { bytesText, moneyText, percentText, shown } from '../../../../src/lib/server/dashboard/page/text.ts';

/** `text`, in pieces that are cut wherever. */
const pieces = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.array(fc.nat(60))).map(([whole, cuts]) => {
    const parts: string[] = [];
    let rest = whole;
    for (const cut of cuts) {
      parts.push(rest.slice(0, cut));
      rest = rest.slice(cut);
    }
    return { whole, parts: [...parts, rest] };
  });

test.each([
  ['plain', 'plain'],
  ['<b>&amp;', '<b>&amp;'],
  ['two\nlines', 'two⏎lines'],
  ['right\u202eleft', 'right\\u{202e}left'],
  ['\x1b[31m\0', '\\u{1b}[31m\\u{0}'],
  ['zero\u200bwidth\u2028', 'zero\\u{200b}width\\u{2028}'],
  ['grüße ✓ 箱', 'grüße ✓ 箱'],
])('%j is shown as %s', (text, seen) => {
  expect(shown(text)).toBe(seen);
});

test('amounts', () => {
  expect([0, 512, 1536, 5 * 1024 ** 2, 3 * 1024 ** 3].map(bytesText)).toEqual([
    '0 B',
    '512 B',
    '1.5 KB',
    '5 MB',
    '3 GB',
  ]);
  expect([0, 0.25, 9.96, 100].map(percentText)).toEqual(['0.0 %', '0.3 %', '10 %', '100 %']);
  expect([0, 0.00001, 0.0012, 0.01, 12.345].map(moneyText)).toEqual([
    '$0.00',
    '< $0.0001',
    '$0.0012',
    '$0.01',
    '$12.35',
  ]);
});

test('what use costs', () => {
  const rates = { costCpuPerHour: 0.5, costMemGbPerHour: 0.25, costEgressPerGb: 2 };
  const usage = { cpuSeconds: 7200, memGbSeconds: 3600, egressBytes: 5e8 };
  expect(costOf(usage, rates)).toEqual({ cpu: 1, mem: 0.25, egress: 1, total: 2.25 });
});

describe('events', () => {
  test('are the same however they are cut', () => {
    const text = fc
      .array(fc.record({ type: fc.constant('log'), data: fc.string() }))
      .map((events) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(': comment\n\n'));
    fc.assert(
      fc.property(pieces(text), ({ whole, parts }) => {
        const read = eventReader<object>();
        expect(parts.flatMap(read)).toEqual(eventReader<object>()(whole));
      }),
    );
    expect(eventReader<object>()(': begun\n\ndata: {"a":1}\n\ndata: {"b":')).toEqual([{ a: 1 }]);
  });
});

describe('logs', () => {
  const read = (text: string) => logReader()(text);

  test.each([
    ['\x1b[1;31mred\x1b[0m', 'red'],
    ['\x1b]0;title\x07after', 'after'],
    ['\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\', 'link'],
    ['\x1b(Bplain\x1b=', 'plain'],
    ['a\r\nb\rc', 'a\nbc'],
    ['tab\tbell\x07\0', 'tab\tbell'],
  ])('%j reads %j', (text, seen) => {
    expect(read(text)).toBe(seen);
  });

  test('are the same however they are cut', () => {
    const code = fc.constantFrom(
      '\x1b[31m',
      '\x1b]0;t\x07',
      '\x1b]0;t\x1b\\',
      '\x1b(B',
      'word',
      '\n',
      'ü',
      '[',
      ';',
    );
    const text = fc.array(code).map((parts) => `${parts.join('')}.`);
    fc.assert(
      fc.property(pieces(text), ({ whole, parts }) => {
        expect(parts.map(logReader()).join('')).toBe(read(whole));
      }),
    );
  });

  test('what only looks like a code holds nothing back for ever', () => {
    const one = logReader();
    one('\x1b]0;');
    expect(one('x'.repeat(5000))).toContain('xxx');
  });

  test('their end begins with a line', () => {
    expect(endOf('one\ntwo\nthree', 20)).toBe('one\ntwo\nthree');
    expect(endOf('one\ntwo\nthree', 7)).toBe('three');
  });
});

test('a path and its folders', () => {
  expect(within('/', 'a')).toBe('/a');
  expect(within('/a', 'b c')).toBe('/a/b c');
  expect(trail('/')).toEqual([{ name: '/', path: '/' }]);
  expect(trail('/a/b')).toEqual([
    { name: '/', path: '/' },
    { name: 'a', path: '/a' },
    { name: 'b', path: '/a/b' },
  ]);
});

test('a place and its address', () => {
  const place = { id: 'sb 1/ü', tab: 'files' } as const;
  expect(placeOf(hashOf(place))).toEqual(place);
  expect(placeOf('#/sb1')).toEqual({ id: 'sb1', tab: 'terminal' });
  expect(placeOf('#/sb1/other')).toEqual({ id: 'sb1', tab: 'terminal' });
  for (const hash of ['', '#', '#/', '#/%', '#x']) expect(placeOf(hash), hash).toBeUndefined();
});

test('a line ends at the right, and never leaves its frame', () => {
  const kept = series(3);
  for (const value of [9, 0, 50, 200]) kept.add(value);
  expect(kept.values).toEqual([0, 50, 200]);
  const frame = { width: 10, height: 20, most: 100, slots: 6 };
  expect(linePath(kept.values, frame)).toBe('M6 20L8 10L10 0');
  expect(linePath([], frame)).toBe('');
});
