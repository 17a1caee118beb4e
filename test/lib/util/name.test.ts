import { describe, expect, it } from 'vitest';
import { isName, nearNames, randomName } from '../../../src/lib/util/name.ts';

describe('isName', () => {
  it.each(['a', 'A1', 'my-box_2.x', '9', 'x'.repeat(63)])('allows %j', (name) =>
    expect(isName(name)).toBe(true),
  );
  it.each(['', '-a', '.a', '_a', 'a/b', 'a b', 'a\n', 'ä', 'x'.repeat(64), 'a\u0000'])('refuses %j', (name) =>
    expect(isName(name)).toBe(false),
  );
});

describe('randomName', () => {
  it('is a name of two words and two characters, at both ends of chance', () => {
    for (const random of [() => 0, () => 0.999_999_999, Math.random]) {
      expect(randomName(random)).toMatch(/^[a-z]+-[a-z]+-[a-z2-9]{2}$/);
      expect(isName(randomName(random))).toBe(true);
    }
  });

  it('seldom repeats itself', () => {
    expect(new Set(Array.from({ length: 500 }, () => randomName())).size).toBeGreaterThan(490);
  });
});

describe('nearNames', () => {
  it('gives starts and typing mistakes, the nearest first, three at most', () => {
    expect(nearNames('web', ['web-1', 'wbe', 'other', 'WEB'])).toEqual(
      ['WEB', 'web-1', 'wbe'].sort((a, b) => order(a) - order(b)),
    );
    expect(nearNames('zzz', ['web'])).toEqual([]);
    expect(nearNames('box', ['box-1', 'box-2', 'box-3', 'box-4'])).toHaveLength(3);
  });
});

const order = (name: string) => ['WEB', 'web-1', 'wbe'].indexOf(name);
