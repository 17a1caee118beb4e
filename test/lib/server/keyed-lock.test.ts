import { expect, test } from 'vitest';
import { keyedLock } from '../../../src/lib/server/keyed-lock.ts';

test('one at a time for a key, in the order of asking; other keys do not wait', async () => {
  const lock = keyedLock();
  const gate = Promise.withResolvers<void>();
  const events: string[] = [];
  const act = (name: string, until?: Promise<void>) => async () => {
    events.push(`${name} begins`);
    await until;
    events.push(`${name} ends`);
    return name;
  };
  const first = lock.run('a', act('first', gate.promise));
  const second = lock.run('a', act('second'));
  const third = lock.run('a', act('third'));
  expect(await lock.run('b', act('other'))).toBe('other');
  expect(events).toEqual(['first begins', 'other begins', 'other ends']);
  gate.resolve();
  expect(await Promise.all([first, second, third])).toEqual(['first', 'second', 'third']);
  expect(events.slice(3)).toEqual([
    'first ends',
    'second begins',
    'second ends',
    'third begins',
    'third ends',
  ]);
});

test('a failure is for who asked, and holds up nobody', async () => {
  const lock = keyedLock();
  const failing = lock.run('a', async () => {
    throw new Error('no');
  });
  const after = lock.run('a', async () => 'yes');
  await expect(failing).rejects.toThrow('no');
  expect(await after).toBe('yes');
});

test('idle waits for all that is asked for meanwhile, too', async () => {
  const lock = keyedLock();
  await lock.idle();
  const gate = Promise.withResolvers<void>();
  const done: string[] = [];
  void lock.run('a', async () => {
    await gate.promise;
    done.push('first');
    void lock.run('b', async () => void done.push('asked for meanwhile'));
  });
  const idle = lock.idle().then(() => done.push('idle'));
  expect(done).toEqual([]);
  gate.resolve();
  await idle;
  expect(done).toEqual(['first', 'asked for meanwhile', 'idle']);
});
