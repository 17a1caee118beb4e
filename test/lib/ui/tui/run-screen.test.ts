/** Screens as a person sees them: keys in, what stands on the terminal out. */
import { Text } from 'ink';
import { createElement } from 'react';
import { afterEach, describe, expect, test } from 'vitest';
import { SbxError } from '../../../../src/lib/errors.ts';
import { followSession } from '../../../../src/lib/ops/live/follow-session.ts';
import { watchSessions } from '../../../../src/lib/ops/live/watch-sessions.ts';
import { type RunScreenOptions, runScreen } from '../../../../src/lib/ui/tui/run-screen.tsx';
import type { Screen } from '../../../../src/lib/ui/tui/screen.ts';
import type {
  SessionsEffect,
  SessionsEvent,
  SessionsState,
} from '../../../../src/lib/ui/tui/sessions-model.ts';
import { type SessionTarget, sessionsScreen } from '../../../../src/lib/ui/tui/sessions-screen.tsx';
import { type FakeSessions, fakeSessions } from '../../../support/fake-sessions.ts';
import { type ScreenTerminal, screenTerminal } from '../../../support/screen-terminal.ts';

type Options = RunScreenOptions<SessionsState, SessionsEvent, SessionsEffect, SessionTarget>;

const open = new Set<AbortController>();
afterEach(() => {
  for (const stop of open) stop.abort(new Error('the test is over'));
  open.clear();
});

/** The sessions screen over sessions in memory. */
function start(sessions: FakeSessions, terminal: ScreenTerminal, more: Partial<Options> = {}) {
  const stop = new AbortController();
  open.add(stop);
  const effects: SessionsEffect[] = [];
  const watch = watchSessions(sessions, 5);
  const done = runScreen<SessionsState, SessionsEvent, SessionsEffect, SessionTarget>({
    screen: sessionsScreen('box'),
    terminal: terminal.streams,
    signal: stop.signal,
    now: () => new Date('2026-01-01T00:01:00Z'),
    feed: (send, signal) => watch.run(send, { signal }),
    async perform(effect, { quit }) {
      effects.push(effect);
      if (effect.kind === 'quit') quit();
    },
    preview: {
      follow: (target, sink, signal) => followSession(sessions, target, sink, { signal }),
      place: ({ name, state, size }) => ({ key: `${state} ${name}`, size }),
      explain: (error) => String((error as Error).message),
    },
    ...more,
  });
  // A test that does not look at the end is not failed by it.
  done.catch(() => undefined);
  return { done, stop, effects };
}

const untouched = { raw: false, alternate: false, wrap: true, cursor: true, listeners: 0, flows: false };

describe('the screen of sessions', () => {
  test('shows the list, and what the chosen session shows', async () => {
    const sessions = fakeSessions('main', 'work');
    sessions.print('main', '\u001b[32mhello\u001b[0m from main\r\n');
    sessions.print('work', 'this is work\r\n');
    const terminal = screenTerminal();
    start(sessions, terminal);
    await terminal.shows('hello from main');
    expect(terminal.lines()[0]).toMatch(/^ sessions of box +2 sessions/);
    expect(terminal.text()).toMatch(/main +running +sh +1m/);
    expect(terminal.text()).not.toContain('this is work');
    const row = terminal.lines().findIndex((line) => line.includes('hello'));
    const column = terminal.lines()[row]?.indexOf('hello') ?? 0;
    expect(terminal.cell(column, row)?.color).toBe(2);
    expect(terminal.cell(0, 2)).toMatchObject({ chars: 'm', inverse: true });

    terminal.type('\u001b[B');
    await terminal.shows('this is work');
    expect(terminal.cell(0, 3)?.inverse).toBe(true);

    sessions.print('work', 'and live 日本');
    await terminal.shows('and live 日本');
    expect(sessions.readers('main')).toBe(0);
    expect(sessions.readers('work')).toBe(1);
  });

  test('gives the terminal back as it was', async () => {
    const terminal = screenTerminal();
    const { done, effects } = start(fakeSessions('main'), terminal);
    await terminal.shows('main');
    expect(terminal.modes()).toMatchObject({ raw: true, alternate: true, wrap: false, cursor: false });
    terminal.type('q');
    await done;
    expect(effects).toEqual([{ kind: 'quit' }]);
    await terminal.until(() => !terminal.modes().alternate);
    expect(terminal.modes()).toEqual(untouched);
    expect(terminal.text().trim()).toBe('');
  });

  test('asks for names and shows what is typed', async () => {
    const terminal = screenTerminal();
    const { effects } = start(fakeSessions('main'), terminal);
    await terminal.shows('running');
    terminal.type('n');
    await terminal.shows('name of the new session:');
    terminal.type('build\r');
    await expect.poll(() => effects).toEqual([{ kind: 'create', name: 'build' }]);
    terminal.type('k');
    await terminal.shows("end session 'main' and all that runs in it? y/N");
    terminal.type('y');
    await expect.poll(() => effects.at(-1)).toEqual({ kind: 'kill', name: 'main' });
    terminal.type('?');
    await terminal.shows('choose a session');
  });

  test.each([
    [40, 10],
    [41, 30],
    [200, 50],
    [72, 12],
  ])('fits a window of %i x %i', async (cols, rows) => {
    const sessions = fakeSessions(...Array.from({ length: 30 }, (_, at) => `session-${'x'.repeat(at)}${at}`));
    const terminal = screenTerminal(cols, rows);
    start(sessions, terminal);
    await terminal.shows('session-0');
    expect(terminal.lines()[0]).toContain('sessions of box');
    expect(terminal.lines().at(-1)).toContain('Enter attach');
    terminal.type('\u001b[F');
    await terminal.shows(cols === 200 ? 'x29' : 'session-xxx');
  });

  test('follows the window, says when it is too small, and comes back', async () => {
    const terminal = screenTerminal();
    start(fakeSessions('main'), terminal);
    await terminal.shows('running');
    terminal.resize(40, 10);
    const stands = (rows: number) => () =>
      terminal.lines()[0]?.includes('sessions of box') === true &&
      terminal.lines()[rows - 1]?.includes('Enter attach') === true;
    await terminal.until(stands(10));
    for (const [cols, rows] of [
      [39, 10],
      [40, 9],
      [12, 3],
      [5, 1],
      [1, 1],
    ] as const) {
      terminal.resize(cols, rows);
      await terminal.until((text) => text.trim() !== '' && !text.includes('Enter'));
      if (cols >= 9) expect(terminal.text()).toContain('too small');
    }
    terminal.resize(100, 30);
    await terminal.until(stands(30));
    expect(terminal.lines().filter((line) => line.includes('sessions of box'))).toHaveLength(1);
    expect(terminal.text()).not.toContain('too small');
  });

  test('names and commands from the sandbox cannot steer the terminal', async () => {
    const sessions = fakeSessions('main');
    const hostile = '\u001b[2J\u001b]0;owned\u0007\u202eevil\nline';
    const list = sessions.list.bind(sessions);
    sessions.list = async (call) =>
      (await list(call)).map((info) => ({ ...info, command: hostile, workdir: hostile }));
    const terminal = screenTerminal(160, 24);
    start(sessions, terminal);
    await terminal.shows('\\e[2J');
    expect(terminal.lines()[0]).toContain('sessions of box');
    expect(terminal.text()).not.toContain('\u202e');
  });

  test('what a session prints stays in its pane', async () => {
    const sessions = fakeSessions('main');
    const terminal = screenTerminal();
    start(sessions, terminal);
    await terminal.shows('running');
    sessions.print(
      'main',
      `\u001b[?1049h\u001b[?1000h\u001b[?25l\u001b[2J\u001b[1;1HX${'W'.repeat(500)}\u001b]52;c;AAAA\u0007`,
    );
    await terminal.shows('XWWW');
    expect(terminal.lines()[0]).toContain('sessions of box');
    expect(terminal.text()).toMatch(/main +running/);
    sessions.print('main', '\u001bc\u001b[?2004h\u001b[31mdone');
    await terminal.shows('done');
    expect(terminal.lines()[0]).toContain('sessions of box');
  });

  test('says why there is no list, and shows it when there is one', async () => {
    const sessions = fakeSessions('main');
    sessions.fail(new SbxError('conflict', "sandbox 'box' has stopped"));
    const terminal = screenTerminal();
    start(sessions, terminal);
    await terminal.shows("sandbox 'box' has stopped");
    sessions.fail(undefined);
    await terminal.shows('running');
    expect(terminal.text()).not.toContain('has stopped');
  });

  test('shows how an ended session looked', async () => {
    const sessions = fakeSessions('main');
    sessions.print('main', 'last words\r\n');
    sessions.end('main', { code: 3 });
    const terminal = screenTerminal();
    start(sessions, terminal);
    await terminal.shows('last words');
    expect(terminal.text()).toMatch(/main +ended +exit 3/);
  });
});

describe('suspending', () => {
  test('frees the terminal for somebody else, and takes it back', async () => {
    const sessions = fakeSessions('main');
    const terminal = screenTerminal();
    const inside = Promise.withResolvers<void>();
    const leave = Promise.withResolvers<void>();
    const { done } = start(sessions, terminal, {
      async perform(effect, { suspend, send, quit }) {
        if (effect.kind === 'quit') quit();
        if (effect.kind !== 'attach') return;
        await suspend(async () => {
          inside.resolve();
          await leave.promise;
          return 'back';
        });
        send({ type: 'done', notice: { text: 'back again', failed: false } });
      },
    });
    sessions.print('main', 'picture');
    await terminal.shows('picture');
    terminal.type('\r');
    await inside.promise;
    await terminal.until(() => !terminal.modes().alternate);
    expect(terminal.modes()).toEqual(untouched);
    expect(sessions.readers('main')).toBe(0);
    const heard: string[] = [];
    const hear = (chunk: Buffer) => void heard.push(chunk.toString());
    terminal.streams.input.on('data', hear);
    terminal.streams.input.resume();
    terminal.type('typed elsewhere');
    await expect.poll(() => heard.join('')).toBe('typed elsewhere');
    terminal.streams.input.off('data', hear);
    terminal.streams.input.pause();
    terminal.streams.output.write('left by somebody else');
    leave.resolve();
    await terminal.shows('back again');
    await terminal.shows('picture');
    expect(terminal.modes()).toMatchObject({ raw: true, alternate: true });
    expect(terminal.text()).not.toContain('left by somebody else');
    terminal.type('?');
    await terminal.shows('choose a session');
    terminal.type('?q');
    await done;
    expect(sessions.readers('main')).toBe(0);
  });

  test('what fails meanwhile comes out, with the screen on again', async () => {
    const terminal = screenTerminal();
    const caught: unknown[] = [];
    start(fakeSessions('main'), terminal, {
      async perform(_effect, { suspend, send }) {
        try {
          await suspend(async () => Promise.reject(new SbxError('failed', 'it broke')));
        } catch (error) {
          caught.push(error);
          send({ type: 'done', notice: { text: 'sorry', failed: true } });
        }
      },
    });
    await terminal.shows('running');
    terminal.type('\r');
    await terminal.shows('sorry');
    expect(caught).toHaveLength(1);
  });
});

function Broken({ when }: { when: boolean }) {
  if (when) throw new Error('the view broke');
  return createElement(Text, null, 'fine');
}

test('a task may say that there is nothing to come back to', async () => {
  const terminal = screenTerminal();
  const { done } = start(fakeSessions('main'), terminal, {
    perform: async (_effect, { suspend }) => suspend(async () => 'over'),
  });
  await terminal.shows('running');
  terminal.type('\r');
  await done;
  await terminal.until(() => !terminal.modes().alternate);
  expect(terminal.modes()).toEqual(untouched);
});

describe('whatever ends it, the terminal is restored first', () => {
  const broken = (where: 'first' | 'later'): Screen<number, { type: 'tick' }, never, never> => ({
    initial: 0,
    reduce: (state) => ({ state: state + 1 }),
    view(state) {
      if (where === 'first' || state > 0) throw new Error('the view broke');
      return createElement(Text, null, 'fine');
    },
  });
  const inside: Screen<number, { type: 'tick' }, never, never> = {
    initial: 0,
    reduce: (state) => ({ state: state + 1 }),
    view: (state) => createElement(Broken, { when: state > 0 }),
  };
  const base = (terminal: ScreenTerminal) => ({
    terminal: terminal.streams,
    signal: new AbortController().signal,
    now: () => new Date(),
    feed: async () => undefined,
    perform: async () => undefined,
  });

  test.each([
    ['a view that fails at once', broken('first')],
    ['a view that fails later', broken('later')],
    ['an element that fails while it is drawn', inside],
  ])('%s', async (_name, screen) => {
    const terminal = screenTerminal();
    const done = runScreen({ ...base(terminal), screen });
    // Typed at once: the broken view waits for it.
    terminal.type('x');
    await expect(done).rejects.toThrow('the view broke');
    await terminal.until(() => !terminal.modes().alternate);
    expect(terminal.modes()).toEqual(untouched);
    expect(terminal.text().trim()).toBe('');
  });

  test('a feed that fails', async () => {
    const terminal = screenTerminal();
    const { done } = start(fakeSessions('main'), terminal, {
      feed: async () => Promise.reject(new Error('the feed broke')),
    });
    await expect(done).rejects.toThrow('the feed broke');
    await terminal.until(() => !terminal.modes().alternate);
    expect(terminal.modes()).toEqual(untouched);
  });

  test('an effect that fails', async () => {
    const terminal = screenTerminal();
    const { done } = start(fakeSessions('main'), terminal, {
      perform: async () => Promise.reject(new Error('the effect broke')),
    });
    await terminal.shows('running');
    terminal.type('\r');
    await expect(done).rejects.toThrow('the effect broke');
    expect(terminal.modes()).toMatchObject({ raw: false });
  });

  test('a signal', async () => {
    const terminal = screenTerminal();
    const sessions = fakeSessions('main');
    const { done, stop } = start(sessions, terminal);
    await terminal.shows('running');
    stop.abort(new DOMException('interrupted by SIGTERM', 'AbortError'));
    await expect(done).rejects.toThrow('interrupted by SIGTERM');
    await terminal.until(() => !terminal.modes().alternate);
    expect(terminal.modes()).toEqual(untouched);
    expect(sessions.readers('main')).toBe(0);
  });

  test('a signal while somebody else has the terminal', async () => {
    const terminal = screenTerminal();
    const leave = Promise.withResolvers<void>();
    const inside = Promise.withResolvers<void>();
    const { done, stop } = start(fakeSessions('main'), terminal, {
      perform: async (_effect, { suspend }) =>
        suspend(async () => {
          inside.resolve();
          await leave.promise;
          return 'back';
        }),
    });
    await terminal.shows('running');
    terminal.type('\r');
    await inside.promise;
    stop.abort(new Error('over'));
    await expect(done).rejects.toThrow('over');
    leave.resolve();
    await terminal.until(() => !terminal.modes().alternate);
    expect(terminal.modes()).toEqual(untouched);
  });

  test('a terminal that is gone', async () => {
    const terminal = screenTerminal();
    const { done } = start(fakeSessions('main'), terminal);
    await terminal.shows('running');
    terminal.streams.input.destroy(Object.assign(new Error('read EIO'), { code: 'EIO' }));
    await expect(done).rejects.toMatchObject({ code: 'interrupted', message: 'the terminal is gone' });
  });
});

test('twenty busy sessions do not make more frames than one may', async () => {
  const names = Array.from({ length: 20 }, (_, at) => `busy-${at}`);
  const sessions = fakeSessions(...names);
  const terminal = screenTerminal(120, 40);
  let frames = 0;
  let now = 0;
  const timers: { at: number; run: () => void }[] = [];
  const { done } = start(sessions, terminal, {
    onFrame: () => frames++,
    // Time that only the test moves.
    frameClock: {
      now: () => now,
      after(ms, run) {
        const timer = { at: now + ms, run };
        timers.push(timer);
        return () => timers.splice(timers.indexOf(timer), 1);
      },
    },
  });
  const pass = (ms: number) => {
    now += ms;
    for (const timer of timers.splice(0).filter((each) => each.at <= now || void timers.push(each)))
      timer.run();
  };
  pass(34);
  await expect
    .poll(() => {
      pass(34);
      return sessions.readers('busy-0');
    })
    .toBe(1);
  await expect
    .poll(() => {
      pass(34);
      return terminal.text();
    })
    .toContain('busy-0');
  const before = frames;
  for (let ms = 0; ms < 1000; ms++) {
    for (const name of names) sessions.print(name, `${name} line ${ms}\r\n`);
    // Whoever reads them gets a turn; the clock does not move by that.
    if (ms % 10 === 0) await new Promise<void>((turn) => setImmediate(turn));
    pass(1);
  }
  expect(frames - before).toBeLessThanOrEqual(30);
  expect(frames - before).toBeGreaterThan(0);
  terminal.type('q');
  await done;
});
