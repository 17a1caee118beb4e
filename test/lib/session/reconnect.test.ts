import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SbxError } from '../../../src/lib/errors.ts';
import { ATTEMPT_DUE, redial } from '../../../src/lib/session/reconnect.ts';

const unreachable = new SbxError('unreachable', 'no way there');

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Dials until it works, with the random part at its largest. @returns the waits between */
async function waits(failures: number, giveUpMs: number, random = 1): Promise<number[]> {
  const seen: number[] = [];
  let attempts = 0;
  const done = redial(
    async () => {
      attempts += 1;
      if (attempts <= failures) throw unreachable;
      return attempts;
    },
    {
      giveUpMs,
      signal: new AbortController().signal,
      random: () => random,
      now: () => Date.now(),
      onProgress: (_attempt, waitMs) => void (waitMs > 0 && seen.push(waitMs)),
    },
  ).catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  const result = await done;
  return result === unreachable ? [...seen, Number.NaN] : seen;
}

test('at once, then less and less often', async () => {
  expect(await waits(8, 1e9)).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
});

test('with up to half of each wait left out', async () => {
  expect(await waits(3, 1e9, 0)).toEqual([125, 250, 500]);
});

test('until the time is over, with a last attempt at its end', async () => {
  expect(await waits(99, 1000)).toEqual([250, 500, 250, Number.NaN]);
});

test('what will not get better is not tried again', async () => {
  const error = new SbxError('not_found', 'gone');
  const options = { giveUpMs: 1000, signal: new AbortController().signal, onProgress: () => undefined };
  await expect(redial(() => Promise.reject(error), options)).rejects.toBe(error);
});

test('an attempt that hangs is given up and made again', async () => {
  vi.useRealTimers();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    expect(ms).toBe(ATTEMPT_DUE);
    return AbortSignal.abort(new DOMException('late', 'TimeoutError'));
  });
  let attempts = 0;
  const result = await redial(
    async (signal) => {
      attempts += 1;
      if (attempts === 1) signal.throwIfAborted();
      return attempts;
    },
    { giveUpMs: 1000, signal: new AbortController().signal, random: () => 0, onProgress: () => undefined },
  );
  expect(result).toBe(2);
  timeout.mockRestore();
});

test('ends when it is told to', async () => {
  const controller = new AbortController();
  const done = redial(() => Promise.reject(unreachable), {
    giveUpMs: 1e9,
    signal: controller.signal,
    onProgress: (_attempt, waitMs) => void (waitMs > 0 && controller.abort()),
  });
  await expect(done).rejects.toThrow('aborted');
});
