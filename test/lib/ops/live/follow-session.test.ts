import { describe, expect, test } from 'vitest';
import { SbxError } from '../../../../src/lib/errors.ts';
import { followSession } from '../../../../src/lib/ops/live/follow-session.ts';
import { fakeSessions } from '../../../support/fake-sessions.ts';

/** A sink that remembers, and may be slow. */
function memorySink() {
  let text = '';
  let written = 0;
  let clears = 0;
  let gate: Promise<void> | undefined;
  return {
    clear() {
      clears++;
      text = '';
    },
    async write(data: Uint8Array) {
      await gate;
      written += data.length;
      text = (text + Buffer.from(data).toString('latin1')).slice(-1_000_000);
    },
    stall(until: Promise<void>) {
      gate = until;
    },
    get text() {
      return text;
    },
    get written() {
      return written;
    },
    get clears() {
      return clears;
    },
  };
}

function follow(...printed: readonly string[]) {
  const sessions = fakeSessions('main');
  for (const text of printed) sessions.print('main', text);
  const sink = memorySink();
  const stop = new AbortController();
  const done = followSession(sessions, { name: 'main', state: 'running' }, sink, { signal: stop.signal });
  return { sessions, sink, stop, done };
}

test('first what was recorded, then what comes, read-only', async () => {
  const { sessions, sink, stop, done } = follow('before\n');
  await expect.poll(() => sink.text).toBe('before\n');
  sessions.print('main', 'one');
  sessions.print('main', 'two');
  await expect.poll(() => sink.text).toBe('before\nonetwo');
  expect(sessions.asked).toEqual(['attach main read-only']);
  stop.abort();
  await done;
  expect(sessions.readers('main')).toBe(0);
});

test('what comes while the recording is read is shown once', async () => {
  const sessions = fakeSessions('main');
  sessions.print('main', 'before ');
  const recording = sessions.recording.bind(sessions);
  sessions.recording = async (...asked) => {
    sessions.print('main', 'meanwhile ');
    return recording(...asked);
  };
  const sink = memorySink();
  const stop = new AbortController();
  const done = followSession(sessions, { name: 'main', state: 'running' }, sink, { signal: stop.signal });
  await expect.poll(() => sink.text).toBe('before meanwhile ');
  sessions.print('main', 'after');
  await expect.poll(() => sink.text).toBe('before meanwhile after');
  stop.abort();
  await done;
});

test('a recording that was cut begins with a whole line', async () => {
  const { sink, stop, done } = follow(
    `${'x'.repeat(200)}\u001b[3`,
    `1mcut\nwhole\n${'y'.repeat(128 * 1024 - 16)}`,
  );
  await expect.poll(() => sink.text.length).toBeGreaterThan(1000);
  expect(sink.text.startsWith('whole\n')).toBe(true);
  stop.abort();
  await done;
});

test('an ended session shows its recording and is not attached to', async () => {
  const sessions = fakeSessions('main');
  sessions.print('main', 'last words');
  sessions.end('main', { code: 0 });
  const sink = memorySink();
  const { signal } = new AbortController();
  await followSession(sessions, { name: 'main', state: 'ended' }, sink, { signal });
  expect(sink.text).toBe('last words');
  expect(sessions.asked).toEqual([]);
});

test('it is over when the shell ends, with all that it printed', async () => {
  const { sessions, sink, done } = follow();
  await expect.poll(() => sessions.readers('main')).toBe(1);
  sessions.print('main', 'bye');
  sessions.end('main', { code: 0 });
  await done;
  expect(sink.text).toBe('bye');
});

describe('a session that floods', () => {
  const megabyte = Buffer.alloc(1 << 20, 'flood\n');

  test('is left, looked at now and then, and joined again once it is quiet', async () => {
    const { sessions, sink, stop, done } = follow();
    await expect.poll(() => sessions.readers('main')).toBe(1);
    let printed = 0;
    const flood = () => {
      sessions.print('main', megabyte);
      printed += megabyte.length;
    };
    flood();
    await expect.poll(() => sessions.readers('main')).toBe(0);
    flood();
    sessions.print('main', 'calm\n');
    await expect.poll(() => sessions.readers('main')).toBe(1);
    await expect.poll(() => sink.text.endsWith('calm\n')).toBe(true);
    sessions.print('main', 'live');
    await expect.poll(() => sink.text.endsWith('calm\nlive')).toBe(true);
    expect(sink.written).toBeLessThan(printed / 4);
    stop.abort();
    await done;
  });

  test('is read also while drawing stands still', async () => {
    const { sessions, sink, stop, done } = follow();
    await expect.poll(() => sessions.readers('main')).toBe(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    sink.stall(promise);
    sessions.print('main', 'first');
    sessions.print('main', megabyte);
    // Left while nothing could be drawn.
    await expect.poll(() => sessions.readers('main')).toBe(0);
    resolve();
    stop.abort();
    await done;
  });
});

test('a link that breaks is opened again', async () => {
  const { sessions, sink, stop, done } = follow('before ');
  await expect.poll(() => sink.text).toBe('before ');
  sessions.cut('main');
  await expect.poll(() => sessions.readers('main')).toBe(0);
  sessions.print('main', 'meanwhile');
  await expect.poll(() => sink.text).toBe('before meanwhile');
  expect(sink.clears).toBe(2);
  stop.abort();
  await done;
});

test('a failure comes out, and being called off is none', async () => {
  const sessions = fakeSessions('main');
  sessions.fail(new SbxError('unreachable', 'no answer'));
  const follow = (signal: AbortSignal) =>
    followSession(sessions, { name: 'main', state: 'running' }, memorySink(), { signal });
  await expect(follow(new AbortController().signal)).rejects.toThrow('no answer');
  await expect(follow(AbortSignal.abort())).resolves.toBeUndefined();
});
