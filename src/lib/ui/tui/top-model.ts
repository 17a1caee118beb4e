/** `sbx top` as a state that keys and news change. Pure. */
import type { SessionInfo } from '../../backend/contract.ts';
import type { FleetEvent } from '../../ops/live/watch-fleet.ts';
import { filtered, moved } from './choose.ts';
import { emptyFleet, type Fleet, type FleetBox, reduceFleet } from './fleet-model.ts';
import { type KeyEvent, keyWord } from './keys.ts';
import type { Step } from './screen.ts';
import type { Notice } from './sessions-model.ts';
import { typed } from './text-field.ts';

export interface TopState {
  readonly fleet: Fleet;
  /** The key of the chosen sandbox. */
  readonly chosen: string | undefined;
  /** The name of the session that is shown, where Tab chose one. */
  readonly session: string | undefined;
  readonly filter: string;
  readonly mode: 'list' | 'filter' | 'help';
  readonly notice: Notice | undefined;
}

/** News. */
export type TopEvent = FleetEvent | { readonly type: 'done'; readonly notice: Notice | undefined };

/** What is to be done. */
export type TopEffect =
  | { readonly kind: 'quit' }
  /** `session`: the one on the screen; undefined for the one that `sbx shell` takes. */
  | { readonly kind: 'enter'; readonly box: FleetBox; readonly session: string | undefined };

type Next = Step<TopState, TopEffect>;

export const initialTop: TopState = {
  fleet: emptyFleet,
  chosen: undefined,
  session: undefined,
  filter: '',
  mode: 'list',
  notice: undefined,
};

/** Those that the filter leaves. */
export function shownBoxes({ fleet, filter }: TopState): readonly FleetBox[] {
  return filtered(fleet.boxes ?? [], filter, ({ info }) =>
    [info.name, info.backend, info.state, info.image].filter(Boolean).join(' '),
  );
}

/** The sandbox that the next key is about. */
export function chosenBox(state: TopState): FleetBox | undefined {
  const shown = shownBoxes(state);
  return shown.find(({ key }) => key === state.chosen) ?? shown[0];
}

/** The session whose screen is shown: the one that Tab chose, else `main`, else the first that runs. */
export function shownSession(state: TopState): SessionInfo | undefined {
  const running = runningSessions(chosenBox(state));
  const named = (name: string | undefined) => running.find((each) => each.name === name);
  return named(state.session) ?? named('main') ?? running[0];
}

function runningSessions(box: FleetBox | undefined): readonly SessionInfo[] {
  return box?.sessions?.filter((each) => each.state === 'running') ?? [];
}

export function reduceTop(state: TopState, event: TopEvent | KeyEvent): Next {
  switch (event.type) {
    case 'done':
      return { state: { ...state, notice: event.notice } };
    case 'paste':
    case 'key':
      return onKey(state, event);
    default:
      return { state: { ...state, fleet: reduceFleet(state.fleet, event) } };
  }
}

function onKey(state: TopState, event: KeyEvent): Next {
  if (event.type === 'key' && keyWord(event.key) === 'ctrl-c') return { state, effect: { kind: 'quit' } };
  switch (state.mode) {
    case 'help':
      return { state: event.type === 'key' ? { ...state, mode: 'list' } : state };
    case 'filter':
      return onFilterKey(state, event);
    case 'list':
      return event.type === 'paste' ? { state } : onListKey({ ...state, notice: undefined }, event);
  }
}

function onFilterKey(state: TopState, event: KeyEvent): Next {
  const filter = typed(state.filter, event);
  if (filter !== undefined) return { state: { ...state, filter } };
  const word = event.type === 'key' ? keyWord(event.key) : '';
  if (word === 'enter') return { state: { ...state, mode: 'list' } };
  if (word === 'escape') return { state: { ...state, mode: 'list', filter: '' } };
  return { state: event.type === 'key' ? move(state, event, false) : state };
}

function move(state: TopState, event: KeyEvent & { readonly type: 'key' }, letters: boolean): TopState {
  const shown = shownBoxes(state);
  const box = chosenBox(state);
  const at = box === undefined ? 0 : shown.indexOf(box);
  const to = moved(at, shown.length, event.key, letters);
  return to === undefined ? state : { ...state, chosen: shown[to]?.key, session: undefined };
}

function onListKey(state: TopState, event: KeyEvent & { readonly type: 'key' }): Next {
  const word = keyWord(event.key);
  switch (word) {
    case 'q':
      return { state, effect: { kind: 'quit' } };
    case 'escape':
      return { state: { ...state, filter: '' } };
    case '?':
      return { state: { ...state, mode: 'help' } };
    case '/':
      return { state: { ...state, mode: 'filter' } };
    case 'tab':
    case 'shift-tab':
      return { state: { ...state, session: neighbour(state, word === 'tab' ? 1 : -1) } };
    case 'enter':
      return enter(state);
    default:
      return { state: move(state, event, true) };
  }
}

function neighbour(state: TopState, step: 1 | -1): string | undefined {
  const running = runningSessions(chosenBox(state));
  const at = running.findIndex(({ name }) => name === shownSession(state)?.name);
  return running[(at + step + running.length) % Math.max(1, running.length)]?.name;
}

function enter(state: TopState): Next {
  const box = chosenBox(state);
  if (box === undefined) return { state };
  const { name, state: now } = box.info;
  if (now !== 'running')
    return { state: { ...state, notice: { text: `sandbox '${name}' is ${now}`, failed: true } } };
  return { state, effect: { kind: 'enter', box, session: shownSession(state)?.name } };
}
