import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchGaps } from '../../../src/lib/session/gap-watch.ts';

const lines = (from: number, to: number) =>
  Buffer.from(Array.from({ length: to - from }, (_, index) => `line ${from + index}\r\n`).join(''));

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

async function gapsOf(seen: readonly Uint8Array[], ...recordings: readonly (Uint8Array | undefined)[]) {
  let reads = 0;
  let gaps = 0;
  using watch = watchGaps(
    async () => recordings[Math.min(reads++, recordings.length - 1)],
    () => void gaps++,
  );
  for (const each of seen) watch.outputSeen(each);
  await vi.advanceTimersByTimeAsync(5000);
  return { reads, gaps };
}

test('what is recorded came: no gap', async () => {
  expect(await gapsOf([lines(0, 3000), lines(3000, 5000)], lines(4000, 5000))).toEqual({ reads: 1, gaps: 0 });
});

test('the end of a flood that never came is a gap', async () => {
  expect(await gapsOf([lines(0, 4900)], lines(4000, 5000))).toEqual({ reads: 2, gaps: 1 });
});

test('lines left out near the end are a gap', async () => {
  expect(await gapsOf([lines(0, 4900), lines(4910, 5000)], lines(3000, 5000))).toEqual({ reads: 2, gaps: 1 });
});

test('a recorder that is late is no gap', async () => {
  expect(await gapsOf([lines(0, 5000)], lines(4000, 4900), lines(4000, 5000))).toEqual({ reads: 2, gaps: 0 });
});

test('a recording that has stopped, or that there is none of, tells nothing', async () => {
  expect(await gapsOf([lines(0, 5000)], lines(0, 900))).toEqual({ reads: 2, gaps: 0 });
  expect(await gapsOf([lines(0, 5000)], undefined)).toEqual({ reads: 2, gaps: 0 });
});

test('little output is not looked at', async () => {
  expect(await gapsOf([lines(0, 10)], lines(5, 20))).toEqual({ reads: 0, gaps: 0 });
});
