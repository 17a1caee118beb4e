/** The small pure pieces: keys, choosing, text fields, bars, frames. */
import type { Key as InkKey } from 'ink';
import { describe, expect, test } from 'vitest';
import { filtered, firstShown, moved } from '../../../../src/lib/ui/tui/choose.ts';
import { createFrames, LEAST_GAP_MS } from '../../../../src/lib/ui/tui/frames.ts';
import { keysOf } from '../../../../src/lib/ui/tui/keys.ts';
import { HISTORY_LENGTH, remember, sparkline } from '../../../../src/lib/ui/tui/sparkline.ts';
import { typed } from '../../../../src/lib/ui/tui/text-field.ts';

describe('keys', () => {
  const ink = (more: Partial<InkKey> = {}) => more as InkKey;
  test.each([
    ['', ink({ upArrow: true }), [{ name: 'up' }]],
    ['', ink({ return: true }), [{ name: 'enter' }]],
    ['c', ink({ ctrl: true }), [{ name: 'ctrl-c' }]],
    ['', ink({ tab: true, shift: true }), [{ name: 'shift-tab' }]],
    ['q', ink(), [{ text: 'q' }]],
    ['日k', ink(), [{ text: '日' }, { text: 'k' }]],
    ['x\r', ink(), [{ text: 'x' }, { name: 'enter' }]],
    ['j\u000e', ink(), [{ text: 'j' }, { name: 'ctrl-n' }]],
    ['q', ink({ meta: true }), []],
    ['q', ink({ eventType: 'release' }), []],
  ])('%j with %j', (input, key, expected) => {
    expect(keysOf(input, key)).toEqual(expected);
  });
});

test('a text field ignores what is no text, and is bounded', () => {
  expect(typed('ab', { type: 'key', key: { name: 'up' } })).toBeUndefined();
  expect(typed('a😀', { type: 'key', key: { name: 'backspace' } })).toBe('a');
  expect(typed('one two', { type: 'key', key: { name: 'ctrl-w' } })).toBe('one ');
  expect(typed('one', { type: 'key', key: { name: 'ctrl-u' } })).toBe('');
  expect(typed('', { type: 'paste', text: 'x'.repeat(100_000) })).toHaveLength(200);
});

test('letters move only where they mean nothing else', () => {
  expect(moved(1, 5, { text: 'j' })).toBeUndefined();
  expect(moved(1, 5, { text: 'j' }, true)).toBe(2);
  expect(moved(0, 0, { name: 'down' })).toBe(0);
  expect(moved(3, 100, { name: 'page-down' })).toBe(13);
});

test('the chosen line is always shown', () => {
  for (let at = 0; at < 30; at++) {
    const first = firstShown(at, 30, 7);
    expect(first).toBeGreaterThanOrEqual(0);
    expect(at).toBeGreaterThanOrEqual(first);
    expect(at).toBeLessThan(first + 7);
    expect(first).toBeLessThanOrEqual(23);
  }
});

test('a filter takes all of its words, in any order', () => {
  expect(filtered(['web one', 'web two', 'one'], 'ONE web', (text) => text)).toEqual(['web one']);
});

describe('bars', () => {
  test('grow with the value, stand on the right, and leave gaps for what is unknown', () => {
    expect(sparkline([0, undefined, 50, 100], 6, 100)).toBe('  ▁ ▅█');
    expect(sparkline([0, 400], 2, 100)).toBe('▁█');
    expect(sparkline([0, 0], 2, 0)).toBe('▁▁');
    expect(sparkline([1, 2, 3], 0, 1)).toBe('');
  });

  test('remember so many values and no more', () => {
    let history: readonly (number | undefined)[] = [];
    for (let at = 0; at < 10 * HISTORY_LENGTH; at++) history = remember(history, at);
    expect(history).toHaveLength(HISTORY_LENGTH);
    expect(history.at(-1)).toBe(10 * HISTORY_LENGTH - 1);
  });
});

describe('frames', () => {
  /** A clock that a test moves. */
  function clock() {
    let now = 1000;
    let due: { at: number; run: () => void } | undefined;
    return {
      now: () => now,
      spend: (ms: number) => {
        now += ms;
      },
      after(ms: number, run: () => void) {
        const mine = { at: now + ms, run };
        due = mine;
        return () => {
          if (due === mine) due = undefined;
        };
      },
      /** Lets time pass. */
      pass(ms: number) {
        const until = now + ms;
        while (due !== undefined && due.at <= until) {
          const { at, run } = due;
          due = undefined;
          now = Math.max(now, at);
          run();
        }
        now = Math.max(now, until);
      },
    };
  }

  /** Asks for a frame each millisecond for a second. @returns frames drawn */
  function drawn(cause: 'key' | 'feed', costMs: number): number {
    const time = clock();
    let count = 0;
    const frames = createFrames(() => {
      count++;
      time.spend(costMs);
    }, time);
    for (let ms = 0; ms < 1000; ms++) {
      frames.request(cause);
      time.pass(1);
    }
    return count;
  }

  test('there are at most 30 a second, whatever asks for them', () => {
    expect(drawn('key', 0)).toBeLessThanOrEqual(30);
    expect(drawn('key', 0)).toBeGreaterThan(25);
    expect(drawn('feed', 0)).toBeLessThanOrEqual(30);
  });

  test('what no key asked for takes no more than a twentieth of the time', () => {
    expect(drawn('feed', 10)).toBeLessThanOrEqual(6);
    expect(drawn('key', 10)).toBeGreaterThan(20);
  });

  test('a key does not wait for a costly frame that nobody asked for', () => {
    const time = clock();
    const at: number[] = [];
    const frames = createFrames(() => {
      at.push(time.now());
      time.spend(20);
    }, time);
    frames.request('feed');
    time.pass(0);
    frames.request('feed');
    frames.request('key');
    time.pass(1000);
    expect(at).toHaveLength(2);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBe(LEAST_GAP_MS);
  });

  test('none is drawn once it is over', () => {
    const time = clock();
    let count = 0;
    const frames = createFrames(() => count++, time);
    frames.request('key');
    frames[Symbol.dispose]();
    frames.request('key');
    time.pass(1000);
    expect(count).toBe(0);
  });
});
