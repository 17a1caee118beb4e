/** What a screen is: a pure model and a pure view. Everything that happens to it is an event; what it wants done is an effect. */
import type { ReactElement } from 'react';
import type { KeyEvent } from './keys.ts';

/** The window, in cells. */
export interface Size {
  readonly cols: number;
  readonly rows: number;
}

/** A state, and what is to be done because of it. */
export interface Step<State, Effect> {
  readonly state: State;
  readonly effect?: Effect | undefined;
}

/** What a view may look at besides the state. */
export interface Surroundings {
  readonly size: Size;
  readonly now: Date;
  /** What the session that is looked at shows, cropped to the room there is. */
  preview(crop: Size): Preview;
}

/** The preview of a session: its lines, or why there are none. */
export interface Preview {
  readonly lines: readonly string[];
  /** The size of the session's own terminal. */
  readonly size?: Size | undefined;
  readonly message?: string | undefined;
}

/** A screen over events of its own besides keys. */
export interface Screen<State, Event, Effect, Target> {
  readonly initial: State;
  /** Pure. */
  reduce(state: State, event: Event | KeyEvent): Step<State, Effect>;
  /** Pure. Exactly as large as the window, or smaller. */
  view(state: State, surroundings: Surroundings): ReactElement;
  /** The session whose screen is shown; undefined for none. */
  target?(state: State): Target | undefined;
}

/** Smaller windows are told so. */
export const LEAST_SIZE: Size = { cols: 40, rows: 10 };
