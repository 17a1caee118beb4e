import { expect, test } from 'vitest';
import { createPoller, type Job } from '../../../../src/lib/ops/live/poller.ts';

const never = () => new Promise<void>(() => undefined);

function poller(options = { most: 2, patienceMs: 5 }) {
  const stop = new AbortController();
  return { stop, poller: createPoller(options, { signal: stop.signal }) };
}

const job = (ask: Job['ask'], everyMs = 1): Job => ({ everyMs: () => everyMs, ask });

test('asks again and again, and stops when it is called off', async () => {
  const { poller: it, stop } = poller();
  let asked = 0;
  it.set(new Map([['a', job(async () => void asked++)]]));
  await expect.poll(() => asked).toBeGreaterThan(3);
  stop.abort();
  await it.done;
  const then = asked;
  await new Promise<void>((turn) => setImmediate(turn));
  expect(asked).toBe(then);
});

test('no more at a time than it may', async () => {
  const { poller: it, stop } = poller({ most: 2, patienceMs: 60_000 });
  let now = 0;
  let most = 0;
  let asked = 0;
  const jobs = Array.from({ length: 10 }, (_, at) => {
    const ask = async () => {
      asked++;
      most = Math.max(most, ++now);
      await new Promise<void>((turn) => setImmediate(turn));
      now--;
    };
    return [String(at), job(ask)] as const;
  });
  it.set(new Map(jobs));
  await expect.poll(() => asked).toBeGreaterThan(30);
  expect(most).toBe(2);
  stop.abort();
});

test('those that hang are not in the way of the others', async () => {
  const { poller: it, stop } = poller();
  let asked = 0;
  const hanging = Array.from({ length: 5 }, (_, at) => [`dead-${at}`, job(never)] as const);
  it.set(new Map([...hanging, ['alive', job(async () => void asked++)]]));
  await expect.poll(() => asked).toBeGreaterThan(3);
  stop.abort();
});

test('one that is gone is called off, one that stays is not begun again', async () => {
  const { poller: it, stop } = poller();
  const begun: string[] = [];
  const gone: string[] = [];
  const hang = (name: string) =>
    job(({ signal }) => {
      begun.push(name);
      signal.addEventListener('abort', () => gone.push(name));
      return never();
    });
  it.set(
    new Map([
      ['a', hang('a')],
      ['b', hang('b')],
    ]),
  );
  await expect.poll(() => begun).toEqual(['a', 'b']);
  it.set(
    new Map([
      ['b', hang('b')],
      ['c', hang('c')],
    ]),
  );
  await expect.poll(() => begun).toEqual(['a', 'b', 'c']);
  expect(gone).toEqual(['a']);
  stop.abort();
  expect(gone).toEqual(['a', 'b', 'c']);
});

test('one can be asked before it is due', async () => {
  const { poller: it, stop } = poller();
  let asked = 0;
  it.set(new Map([['slow', job(async () => void asked++, 3_600_000)]]));
  await expect.poll(() => asked).toBe(1);
  it.hurry('slow');
  await expect.poll(() => asked).toBe(2);
  it.hurry('unknown');
  stop.abort();
});

test('a bug in a job comes out', async () => {
  const { poller: it } = poller();
  it.set(new Map([['a', job(async () => Promise.reject(new Error('a bug')))]]));
  await expect(it.done).rejects.toThrow('a bug');
});
