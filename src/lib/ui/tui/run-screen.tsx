/** Runs a screen: owns the terminal while it is on, lets go of it for whoever needs it, and gives it back whatever happens. */
import { type Instance, render, useInput, usePaste } from 'ink';
import type { ReactElement } from 'react';
import { SbxError } from '../../errors.ts';
import { createFrames, type FrameClock, systemFrameClock } from './frames.ts';
import { type KeyEvent, keysOf } from './keys.ts';
import { createPreview, type Follow, type PreviewTarget } from './preview.ts';
import type { Screen } from './screen.ts';
import { type TerminalStreams, takeTerminal } from './terminal.ts';

/** What an effect may do to the screen that it came from. */
export interface ScreenControl<Event> {
  /** Something has happened. */
  send(event: Event): void;
  /** Ends the screen. */
  quit(): void;
  /**
   * Gives the terminal back, runs `task`, and takes the terminal again unless `task` says that it is over. What feeds
   * the screen stands still meanwhile. What `task` throws comes out here.
   */
  suspend(task: () => Promise<'back' | 'over'>): Promise<void>;
}

export interface RunScreenOptions<State, Event, Effect, Target> {
  readonly screen: Screen<State, Event, Effect, Target>;
  readonly terminal: TerminalStreams;
  /** Ends the screen with its reason. */
  readonly signal: AbortSignal;
  readonly now: () => Date;
  /** Feeds the screen until its signal is aborted; called again after each suspension. Rejecting ends the screen with the error. */
  feed(send: (event: Event) => void, signal: AbortSignal): Promise<void>;
  /** Does what the model wants. Rejecting ends the screen with the error. */
  perform(effect: Effect, control: ScreenControl<Event>): Promise<void>;
  /** After each step. */
  onState?(state: State): void;
  readonly preview?: {
    readonly follow: Follow<Target>;
    place(target: Target): PreviewTarget;
    explain(error: unknown): string;
  };
  readonly frameClock?: FrameClock;
  /** Called for each frame that was drawn. */
  readonly onFrame?: () => void;
}

/**
 * Runs it until the model or the signal ends it. The terminal is then as it was before, also when this rejects.
 * @throws the reason of the signal, and whatever a view, a feed or an effect threw.
 */
export async function runScreen<State, Event extends { readonly type: string }, Effect, Target>(
  options: RunScreenOptions<State, Event, Effect, Target>,
): Promise<void> {
  const { screen, signal } = options;
  let state = screen.initial;
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  let ended = false;
  const end = (settle: () => void) => {
    ended = true;
    settle();
  };
  const fail = (error: unknown) => end(() => reject(error));
  const onAbort = () => fail(signal.reason);

  let stage: Stage | undefined;
  const dispatch = (event: Event | KeyEvent, cause: 'key' | 'feed') => {
    if (ended) return;
    const step = screen.reduce(state, event);
    const same = step.state === state;
    state = step.state;
    options.onState?.(state);
    if (!same) stage?.changed(cause);
    if (step.effect !== undefined) options.perform(step.effect, control).catch(fail);
  };
  const send = (event: Event) => dispatch(event, 'feed');
  const control: ScreenControl<Event> = {
    send,
    quit: () => end(resolve),
    async suspend(task) {
      const before = stage;
      stage = undefined;
      await before?.leave();
      let next: 'back' | 'over' = 'back';
      try {
        next = await task();
      } finally {
        if (next === 'over') control.quit();
        else if (!ended) stage = enter();
      }
    },
  };
  const enter = () => setStage(options, () => state, dispatch, fail);

  if (signal.aborted) throw signal.reason;
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    stage = enter();
    await over;
  } finally {
    ended = true;
    signal.removeEventListener('abort', onAbort);
    await stage?.leave();
  }
}

/** The screen while it has the terminal. */
interface Stage {
  changed(cause: 'key' | 'feed'): void;
  /** Lets go of everything. */
  leave(): Promise<void>;
}

function setStage<State, Event extends { readonly type: string }, Effect, Target>(
  options: RunScreenOptions<State, Event, Effect, Target>,
  current: () => State,
  dispatch: (event: Event | KeyEvent, cause: 'key' | 'feed') => void,
  fail: (error: unknown) => void,
): Stage {
  const { screen, preview } = options;
  const stop = new AbortController();
  const guarded = (run: () => void) => {
    try {
      run();
    } catch (error) {
      fail(error);
    }
  };
  let instance: Instance | undefined;
  const terminal = takeTerminal(options.terminal, {
    resized: () => frames.request('key'),
    gone: (cause) => fail(new SbxError('interrupted', 'the terminal is gone', { cause })),
  });
  const holder =
    preview === undefined
      ? undefined
      : createPreview(preview.follow, () => frames.request('feed'), preview.explain);
  const onKey = (event: KeyEvent) => guarded(() => dispatch(event, 'key'));
  const element = () => (
    <Keys onKey={onKey}>
      {screen.view(current(), {
        size: terminal.size(),
        now: options.now(),
        preview: (crop) => holder?.picture(crop) ?? { lines: [] },
      })}
    </Keys>
  );
  const draw = () =>
    guarded(() => {
      terminal.draw({
        clear: () => instance?.clear(),
        render: () => instance?.rerender(element()),
      });
      options.onFrame?.();
    });
  const frames = createFrames(draw, options.frameClock ?? systemFrameClock);
  const point = () => {
    const target = screen.target?.(current());
    holder?.show(
      target === undefined || preview === undefined ? undefined : { ...preview.place(target), of: target },
    );
  };
  try {
    instance = render(element(), {
      stdin: terminal.stdin,
      stdout: terminal.stdout,
      stderr: terminal.stdout,
      exitOnCtrlC: false,
      patchConsole: false,
      interactive: true,
      isScreenReaderEnabled: false,
      incrementalRendering: true,
      // Above ours, so that Ink's own pacing never holds a frame back.
      maxFps: 120,
    });
    options.onFrame?.();
    instance.waitUntilExit().catch(fail);
    point();
    options
      .feed((event) => dispatch(event, 'feed'), stop.signal)
      .catch((error: unknown) => {
        if (!stop.signal.aborted) fail(error);
      });
  } catch (error) {
    terminal[Symbol.dispose]();
    throw error;
  }
  return {
    changed(cause) {
      point();
      frames.request(cause);
    },
    async leave() {
      stop.abort();
      frames[Symbol.dispose]();
      holder?.[Symbol.dispose]();
      try {
        instance?.unmount();
        // A view that failed has told so already.
        await instance?.waitUntilExit().then(undefined, fail);
      } finally {
        terminal[Symbol.dispose]();
      }
    },
  };
}

interface KeysProps {
  readonly onKey: (event: KeyEvent) => void;
  readonly children: ReactElement;
}

/** Hears the keyboard for what stands inside. */
function Keys({ onKey, children }: KeysProps): ReactElement {
  useInput((input, key) => {
    for (const each of keysOf(input, key)) onKey({ type: 'key', key: each });
  });
  usePaste((text) => onKey({ type: 'paste', text }));
  return children;
}
