import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { watchGaps } from '../../../src/lib/session/gap-watch.ts';

const lines = (from: number, to: number) =>
  Buffer.from(Array.from({ length: to - from }, (_, index) => `line ${from + index}\r\n`).join(''));

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

async function gapsOf(
  seen: readonly Uint8Array[],
  recordings: readonly (Uint8Array | undefined)[],
  isWhole: boolean | 'unknown' = true,
) {
  let reads = 0;
  let gaps = 0;
  using watch = watchGaps(
    {
      read: async () => recordings[Math.min(reads++, recordings.length - 1)],
      isWhole: async () => (isWhole === 'unknown' ? undefined : isWhole),
    },
    () => void gaps++,
  );
  for (const each of seen) watch.outputSeen(each);
  await vi.advanceTimersByTimeAsync(5000);
  return { reads, gaps };
}

test('what is recorded came: no gap', async () => {
  const seen = [lines(0, 3000), lines(3000, 5000)];
  expect(await gapsOf(seen, [lines(4000, 5000)])).toEqual({ reads: 1, gaps: 0 });
});

test.each([
  ['the end of a flood', [lines(0, 4900)], lines(4000, 5000)],
  ['lines near the end', [lines(0, 4900), lines(4910, 5000)], lines(3000, 5000)],
])('%s that never came are a gap, also where the recording has others', async (_, seen, recorded) => {
  expect(await gapsOf(seen, [recorded])).toEqual({ reads: 2, gaps: 1 });
  expect(await gapsOf(seen, [recorded], false)).toEqual({ reads: 2, gaps: 1 });
});

test('a gap before a last line that is short is one', async () => {
  const seen = [lines(0, 4900), Buffer.from('box$ ')];
  expect(await gapsOf(seen, [Buffer.concat([lines(4000, 5000), ...seen.slice(-1)])])).toMatchObject({
    gaps: 1,
  });
});

test('a gap that is longer than what is read of the recording is one', async () => {
  expect(await gapsOf([lines(0, 4900)], [lines(8000, 9000)])).toEqual({ reads: 2, gaps: 1 });
});

test('a recorder that is late is no gap', async () => {
  const recordings = [lines(4000, 4900), lines(4000, 5000)];
  expect(await gapsOf([lines(0, 5000)], recordings)).toEqual({ reads: 2, gaps: 0 });
});

test.each<[string, Buffer | undefined, boolean | 'unknown']>([
  ['has gaps of its own and does not have what came', lines(0, 900), false],
  ['is not known to be whole', lines(0, 900), 'unknown'],
  ['is not there', undefined, true],
  ['is empty', Buffer.alloc(0), true],
])('a recording that %s tells nothing', async (_, recorded, isWhole) => {
  expect(await gapsOf([lines(0, 5000)], [recorded], isWhole)).toEqual({ reads: 2, gaps: 0 });
});

test('little output is not looked at', async () => {
  expect(await gapsOf([lines(0, 10)], [lines(5, 20)])).toEqual({ reads: 0, gaps: 0 });
});
