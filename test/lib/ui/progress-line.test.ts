import { expect, test } from 'vitest';
import { progressLine, tookText } from '../../../src/lib/ui/progress-line.ts';
import { width } from '../../../src/lib/ui/text.ts';

const look = { color: false, unicode: false, frame: 0 };

test.each([0, 1, 2, 3, 10, 20, 40, 80])('fits %i columns with one to spare, whatever it says', (columns) => {
  for (const step of ['cloning', '漢字'.repeat(40), '\u001b[2J'.repeat(20), '👩‍👩‍👧'.repeat(30), '']) {
    const state = { step, ms: 61_000, stepMs: 1000, count: { files: 1, bytes: 2048 }, said: 'out\tput' };
    const { text, cells } = progressLine(state, { ...look, columns });
    expect(cells).toBe(width(text));
    expect(cells).toBeLessThanOrEqual(Math.max(1, columns - 1));
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('\t');
  }
});

test('says how much, how fast and how long', () => {
  const state = {
    step: 'copying',
    ms: 61_000,
    stepMs: 2000,
    count: { files: 1, bytes: 2048 },
    said: undefined,
  };
  expect(progressLine(state, { ...look, columns: 80 }).text).toBe('| 1m1s copying, 1 file, 2K, 1K/s');
  expect(progressLine(state, { ...look, columns: 80, frame: 5 }).text).toMatch(/^\//);
});

test.each([
  [0, '0.0s'],
  [4240, '4.2s'],
  [72_400, '1m12s'],
])('%i ms is %s', (ms, text) => expect(tookText(ms)).toBe(text));
