import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ageOf, formatDuration, parseDuration } from '../../../src/lib/util/duration.ts';
import { formatSize, parseSize } from '../../../src/lib/util/size.ts';

describe('durations', () => {
  it.each([
    ['30s', 30_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['250ms', 250],
    ['1.5h', 5_400_000],
    ['90', 90_000],
    ['0', 0],
    ['0s', 0],
  ])('reads %s', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  it.each(['', 's', '5x', '5m ', '-5s', '1h-30m', '1e3', 'NaN', '9'.repeat(40)])('refuses %j', (text) => {
    expect(() => parseDuration(text)).toThrow(/duration/);
  });

  it('reads back what it writes', () => {
    fc.assert(fc.property(fc.nat(1e12), (each) => parseDuration(formatDuration(each)) === each));
  });

  it('tells an age in one unit', () => {
    const ages = [0, 59, 60, 3599, 7200, 47 * 3600, 48 * 3600].map((seconds) =>
      ageOf(new Date(0).toISOString(), new Date(seconds * 1000)),
    );
    expect(ages).toEqual(['0s', '59s', '1m', '59m', '2h', '47h', '2d']);
    expect(ageOf(new Date(5000).toISOString(), new Date(0))).toBe('0s');
  });
});

describe('sizes', () => {
  it.each([
    ['512m', 512 * 2 ** 20],
    ['2g', 2 ** 31],
    ['2GiB', 2 ** 31],
    ['1.5k', 1536],
    ['100', 100],
    ['100b', 100],
  ])('reads %s', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each(['', 'm', '5x', '-1g', '1g1m', '9'.repeat(40)])('refuses %j', (text) => {
    expect(() => parseSize(text)).toThrow('not a size');
  });

  it('writes three digits and a unit', () => {
    expect([0, 1023, 1024, 1536, 20 * 2 ** 20, 1023.9 * 2 ** 20].map(formatSize)).toEqual([
      '0B',
      '1023B',
      '1K',
      '1.5K',
      '20M',
      '1G',
    ]);
  });
});
