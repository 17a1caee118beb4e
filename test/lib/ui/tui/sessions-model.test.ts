import { describe, expect, test } from 'vitest';
import type { SessionInfo } from '../../../../src/lib/backend/contract.ts';
import type { KeyEvent, KeyName } from '../../../../src/lib/ui/tui/keys.ts';
import {
  chosenSession,
  initialSessions,
  reduceSessions,
  type SessionsEffect,
  type SessionsEvent,
  type SessionsState,
  shownSessions,
} from '../../../../src/lib/ui/tui/sessions-model.ts';

const session = (name: string, more: Partial<SessionInfo> = {}): SessionInfo => ({
  name,
  state: 'running',
  ...more,
});
const key = (name: KeyName): KeyEvent => ({ type: 'key', key: { name } });
const type = (text: string): KeyEvent[] => [...text].map((char) => ({ type: 'key', key: { text: char } }));
const listed = (...sessions: SessionInfo[]): SessionsEvent => ({ type: 'listed', sessions });

function play(events: readonly (SessionsEvent | KeyEvent)[], from = initialSessions('box')) {
  let state: SessionsState = from;
  const effects: SessionsEffect[] = [];
  for (const event of events) {
    const step = reduceSessions(state, event);
    state = step.state;
    if (step.effect !== undefined) effects.push(step.effect);
  }
  return { state, effects };
}

const three = listed(
  session('main'),
  session('work', { command: 'vim notes' }),
  session('old', { state: 'ended' }),
);

test('nothing is known at first, and nothing can be chosen', () => {
  const { state, effects } = play([key('down'), key('enter'), ...type('kr')]);
  expect(state).toMatchObject({ sessions: undefined, mode: { kind: 'list' } });
  expect(effects).toEqual([]);
});

describe('choosing', () => {
  test('arrows and Ctrl-N and Ctrl-P move, and stop at the ends', () => {
    const names = (events: KeyEvent[]) => chosenSession(play([three, ...events]).state)?.name;
    expect(names([])).toBe('main');
    expect(names([key('down')])).toBe('work');
    expect(names([key('ctrl-n'), key('ctrl-n'), key('ctrl-n')])).toBe('old');
    expect(names([key('end'), key('ctrl-p')])).toBe('work');
    expect(names([key('end'), key('home'), key('up')])).toBe('main');
  });

  test('stays on its session when others come and go', () => {
    const { state } = play([three, key('down'), listed(session('new'), session('work'))]);
    expect(chosenSession(state)?.name).toBe('work');
  });

  test('goes to the one that took the place of a session that is gone', () => {
    const { state } = play([three, key('down'), listed(session('main'), session('other'))]);
    expect(chosenSession(state)?.name).toBe('other');
    expect(chosenSession(play([listed(session('main'))], state).state)?.name).toBe('main');
    expect(chosenSession(play([listed()], state).state)).toBeUndefined();
  });
});

describe('Enter', () => {
  test('attaches', () => {
    expect(play([three, key('down'), key('enter')]).effects).toEqual([{ kind: 'attach', name: 'work' }]);
  });

  test('says why an ended session cannot be attached to', () => {
    const { state, effects } = play([three, key('end'), key('enter')]);
    expect(effects).toEqual([]);
    expect(state.notice).toMatchObject({ failed: true, text: expect.stringContaining("'old' has ended") });
    expect(play([key('up')], state).state.notice).toBeUndefined();
  });
});

describe('n', () => {
  test('asks for a name and starts the session', () => {
    const { state, effects } = play([three, ...type('n'), ...type('buildx'), key('backspace'), key('enter')]);
    expect(effects).toEqual([{ kind: 'create', name: 'build' }]);
    expect(state.mode.kind).toBe('list');
  });

  test('takes a paste as text, without its control characters', () => {
    const { effects } = play([
      three,
      ...type('n'),
      { type: 'paste', text: 'my\u001b[2Jname\n' },
      key('enter'),
    ]);
    expect(effects).toEqual([{ kind: 'create', name: 'my[2Jname' }]);
  });

  test('does nothing without a name, and nothing after Esc', () => {
    expect(play([three, ...type('n'), key('enter'), ...type('nx'), key('escape')])).toMatchObject({
      effects: [],
      state: { mode: { kind: 'list' } },
    });
  });
});

test('r begins with the present name', () => {
  const { effects } = play([three, ...type('r'), ...type('2'), key('enter')]);
  expect(effects).toEqual([{ kind: 'rename', name: 'main', to: 'main2' }]);
  expect(play([three, ...type('r'), key('enter')]).effects).toEqual([]);
  expect(play([three, key('end'), ...type('r')]).state.notice?.failed).toBe(true);
});

test('k asks first: y ends it, anything else does not', () => {
  const asked = play([three, key('down'), ...type('k')]);
  expect(asked).toMatchObject({ effects: [], state: { mode: { kind: 'kill', name: 'work' } } });
  expect(play(type('y'), asked.state).effects).toEqual([{ kind: 'kill', name: 'work' }]);
  for (const no of [...type('n'), key('enter'), key('escape')])
    expect(play([no], asked.state)).toMatchObject({ effects: [], state: { mode: { kind: 'list' } } });
  expect(play([{ type: 'paste', text: 'y' }], asked.state).effects).toEqual([]);
});

test('the question is about the session it was asked for, even when that is gone', () => {
  const { effects } = play([three, ...type('k'), listed(session('work')), ...type('y')]);
  expect(effects).toEqual([{ kind: 'kill', name: 'main' }]);
});

describe('/', () => {
  test('leaves those with the words in name, command or folder', () => {
    const { state } = play([three, ...type('/VIM')]);
    expect(shownSessions(state).map(({ name }) => name)).toEqual(['work']);
    expect(chosenSession(state)?.name).toBe('work');
  });

  test('ends with Enter, and Esc shows all again', () => {
    const { state } = play([three, ...type('/vim'), key('enter')]);
    expect(state).toMatchObject({ filter: 'vim', mode: { kind: 'list' } });
    expect(play([key('enter')], state).effects).toEqual([{ kind: 'attach', name: 'work' }]);
    expect(play([key('escape')], state).state.filter).toBe('');
  });

  test('takes the letters that are commands elsewhere', () => {
    expect(play([three, ...type('/qkn')])).toMatchObject({ effects: [], state: { filter: 'qkn' } });
  });
});

test.each([
  [[...type('q')]],
  [[key('ctrl-c')]],
  [[...type('n'), key('ctrl-c')]],
  [[...type('k'), key('ctrl-c')]],
])('quits by %j', (keys) => {
  expect(play([three, ...keys]).effects).toEqual([{ kind: 'quit' }]);
});

test('? shows help until the next key, which does nothing else', () => {
  const { state } = play([three, ...type('?')]);
  expect(state.mode.kind).toBe('help');
  expect(play(type('q'), state)).toMatchObject({ effects: [], state: { mode: { kind: 'list' } } });
});

test('a list that fails keeps what was known, and says why', () => {
  const { state } = play([three, { type: 'unlisted', message: 'sandbox gone' }]);
  expect(state).toMatchObject({ error: 'sandbox gone', sessions: { length: 3 } });
  expect(play([three], state).state.error).toBeUndefined();
});

test('the preview does not make its own session look attached', () => {
  const names = (attached: boolean) => listed(session('main', { attached }), session('work', { attached }));
  const { state } = play([names(false), names(true)]);
  expect(state.sessions?.map(({ attached }) => attached)).toEqual([false, true]);
});

test('those that ended stand last', () => {
  const { state } = play([listed(session('a', { state: 'ended' }), session('b'), session('c'))]);
  expect(shownSessions(state).map(({ name }) => name)).toEqual(['b', 'c', 'a']);
  expect(chosenSession(state)?.name).toBe('b');
});

test('a pasted text is no command', () => {
  expect(play([three, { type: 'paste', text: 'ky' }]).effects).toEqual([]);
});
