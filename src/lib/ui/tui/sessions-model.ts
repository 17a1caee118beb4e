/** The list of sessions as a state that keys and news change. Pure. */
import type { SessionInfo } from '../../backend/contract.ts';
import { filtered, moved } from './choose.ts';
import { type KeyEvent, keyWord } from './keys.ts';
import type { Step } from './screen.ts';
import { typed } from './text-field.ts';

/** What is being asked. */
export type SessionsMode =
  | { readonly kind: 'list' }
  | { readonly kind: 'help' }
  | { readonly kind: 'filter' }
  | { readonly kind: 'new'; readonly text: string }
  | { readonly kind: 'rename'; readonly name: string; readonly text: string }
  | { readonly kind: 'kill'; readonly name: string };

/** A line at the bottom that says what has happened. */
export interface Notice {
  readonly text: string;
  readonly failed: boolean;
}

export interface SessionsState {
  /** The sandbox, as a person names it. */
  readonly sandbox: string;
  /** Undefined until they are known. */
  readonly sessions: readonly SessionInfo[] | undefined;
  /** Why the list is not up to date. */
  readonly error: string | undefined;
  /** The name of the chosen one. */
  readonly chosen: string | undefined;
  readonly filter: string;
  readonly mode: SessionsMode;
  readonly notice: Notice | undefined;
}

/** News. */
export type SessionsEvent =
  | { readonly type: 'listed'; readonly sessions: readonly SessionInfo[] }
  | { readonly type: 'unlisted'; readonly message: string }
  /** Something that was asked for is done, or failed. `choose`: the session to stand on. */
  | { readonly type: 'done'; readonly notice: Notice | undefined; readonly choose?: string | undefined };

/** What is to be done. */
export type SessionsEffect =
  | { readonly kind: 'quit' }
  | { readonly kind: 'attach'; readonly name: string }
  | { readonly kind: 'create'; readonly name: string }
  | { readonly kind: 'rename'; readonly name: string; readonly to: string }
  | { readonly kind: 'kill'; readonly name: string };

type Next = Step<SessionsState, SessionsEffect>;

export function initialSessions(sandbox: string): SessionsState {
  return {
    sandbox,
    sessions: undefined,
    error: undefined,
    chosen: undefined,
    filter: '',
    mode: { kind: 'list' },
    notice: undefined,
  };
}

/** Those that the filter leaves, the running ones first. */
export function shownSessions({ sessions = [], filter }: SessionsState): readonly SessionInfo[] {
  const left = filtered(sessions, filter, ({ name, command, workdir }) =>
    [name, command, workdir].filter(Boolean).join(' '),
  );
  const isRunning = ({ state }: SessionInfo) => state === 'running';
  return [...left.filter(isRunning), ...left.filter((session) => !isRunning(session))];
}

/** The session that the next key is about. */
export function chosenSession(state: SessionsState): SessionInfo | undefined {
  const shown = shownSessions(state);
  return shown.find(({ name }) => name === state.chosen) ?? shown[0];
}

export function reduceSessions(state: SessionsState, event: SessionsEvent | KeyEvent): Next {
  switch (event.type) {
    case 'listed':
      return { state: withList(state, event.sessions) };
    case 'unlisted':
      return { state: { ...state, error: event.message } };
    case 'done':
      return { state: { ...state, notice: event.notice, chosen: event.choose ?? state.chosen } };
    case 'paste':
    case 'key':
      return onKey(state, event);
  }
}

/** The choice stays where it was when its session is gone: on the one that took its place. */
function withList(state: SessionsState, listed: readonly SessionInfo[]): SessionsState {
  const before = shownSessions(state);
  const watched = chosenSession(state);
  // Whoever is shown is attached to by the screen itself: what was known before that is what people mean.
  const sessions = listed.map((session) =>
    session.name === watched?.name ? { ...session, attached: watched.attached } : session,
  );
  const next = { ...state, sessions, error: undefined };
  if (state.chosen !== undefined && sessions.some(({ name }) => name === state.chosen)) return next;
  const at = before.findIndex(({ name }) => name === state.chosen);
  const shown = shownSessions(next);
  return { ...next, chosen: shown[Math.min(Math.max(0, at), shown.length - 1)]?.name };
}

function onKey(state: SessionsState, event: KeyEvent): Next {
  if (event.type === 'key' && keyWord(event.key) === 'ctrl-c') return { state, effect: { kind: 'quit' } };
  switch (state.mode.kind) {
    case 'list':
      return onListKey({ ...state, notice: undefined }, event);
    case 'help':
      return event.type === 'key' ? { state: back(state) } : { state };
    case 'filter':
      return onFilterKey(state, event);
    case 'kill':
      return onKillKey(state, state.mode.name, event);
    case 'new':
    case 'rename':
      return onNameKey(state, state.mode, event);
  }
}

const back = (state: SessionsState): SessionsState => ({ ...state, mode: { kind: 'list' } });

function onListKey(state: SessionsState, event: KeyEvent): Next {
  if (event.type === 'paste') return { state };
  const shown = shownSessions(state);
  const session = chosenSession(state);
  const at = session === undefined ? 0 : shown.indexOf(session);
  const to = moved(at, shown.length, event.key);
  if (to !== undefined) return { state: { ...state, chosen: shown[to]?.name } };
  const mode = (next: SessionsMode): Next => ({ state: { ...state, mode: next } });
  switch (keyWord(event.key)) {
    case 'q':
      return { state, effect: { kind: 'quit' } };
    case 'escape':
      return { state: { ...state, filter: '' } };
    case '?':
      return mode({ kind: 'help' });
    case '/':
      return mode({ kind: 'filter' });
    case 'n':
      return mode({ kind: 'new', text: '' });
  }
  if (session === undefined) return { state };
  const { name } = session;
  switch (keyWord(event.key)) {
    case 'r':
      return session.state === 'ended'
        ? refused(state, `session '${name}' has ended`)
        : mode({ kind: 'rename', name, text: name });
    case 'k':
      return mode({ kind: 'kill', name });
    case 'enter':
      return session.state === 'ended'
        ? refused(state, `session '${name}' has ended; n starts a new one, k forgets it`)
        : { state, effect: { kind: 'attach', name } };
    default:
      return { state };
  }
}

function refused(state: SessionsState, text: string): Next {
  return { state: { ...state, notice: { text, failed: true } } };
}

function onFilterKey(state: SessionsState, event: KeyEvent): Next {
  const text = typed(state.filter, event);
  if (text !== undefined) return { state: { ...state, filter: text } };
  const word = event.type === 'key' ? keyWord(event.key) : '';
  if (word === 'enter') return { state: back(state) };
  if (word === 'escape') return { state: back({ ...state, filter: '' }) };
  return onListMove(state, event);
}

function onListMove(state: SessionsState, event: KeyEvent): Next {
  if (event.type === 'paste') return { state };
  const shown = shownSessions(state);
  const at = shown.findIndex(({ name }) => name === chosenSession(state)?.name);
  const to = moved(Math.max(0, at), shown.length, event.key);
  return { state: to === undefined ? state : { ...state, chosen: shown[to]?.name } };
}

function onKillKey(state: SessionsState, name: string, event: KeyEvent): Next {
  if (event.type === 'paste') return { state };
  return keyWord(event.key) === 'y'
    ? { state: back(state), effect: { kind: 'kill', name } }
    : { state: back(state) };
}

function onNameKey(
  state: SessionsState,
  mode: Extract<SessionsMode, { readonly text: string }>,
  event: KeyEvent,
): Next {
  const text = typed(mode.text, event);
  if (text !== undefined) return { state: { ...state, mode: { ...mode, text } } };
  const word = event.type === 'key' ? keyWord(event.key) : '';
  if (word === 'escape') return { state: back(state) };
  if (word !== 'enter') return { state };
  const name = mode.text.trim();
  if (name === '' || (mode.kind === 'rename' && name === mode.name)) return { state: back(state) };
  return {
    state: back(state),
    effect: mode.kind === 'new' ? { kind: 'create', name } : { kind: 'rename', name: mode.name, to: name },
  };
}
