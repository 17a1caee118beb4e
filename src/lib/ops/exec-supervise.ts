/** Watches over a command that runs: passes signals on, ends it when its time is up, and knows when to give up on it. */
import type { Exit, Running, SignalName } from '../backend/contract.ts';
import type { Clock } from '../cli/context.ts';
import type { Signals } from '../cli/signals.ts';

/** How long a command that was asked to end may take before it is killed, in milliseconds. */
export const KILL_GRACE = 5000;

/** Within this many milliseconds a second INT kills. */
const SECOND_INT = 2000;

/** How long a killed command may take to be reported as ended, in milliseconds. */
const LAST_WORD = 5000;

/** Longest delay that a timer takes. */
const LONGEST_TIMER = 2 ** 31 - 1;

export interface SupervisionOptions {
  readonly signals: Signals;
  readonly clock: Clock;
  readonly timeoutMs?: number | undefined;
  /** TERM and HUP end the command for certain, after the grace; otherwise they are passed on and it decides. */
  readonly mustEnd?: boolean | undefined;
}

/** The watch over one command, until it is disposed. */
export interface Supervision extends Disposable {
  readonly timedOut: boolean;
  /** Whether a signal was passed on: sbx was asked to end, and then nothing of the command stays. */
  readonly signalled: boolean;
  /** Ends the command, after the grace by force. */
  end(graceMs: number): void;
  /** Resolves when the command was killed and its end is not reported; rejects when the backend fails to pass something on. */
  readonly givenUp: Promise<Exit>;
}

/** Takes over the signals of this process until disposed. */
export function supervise(running: Running, options: SupervisionOptions): Supervision {
  const { signals, clock, timeoutMs } = options;
  const timers = new Set<NodeJS.Timeout>();
  let timedOut = false;
  let signalled = false;
  let lastInt = Number.NEGATIVE_INFINITY;
  const { promise: givenUp, resolve: giveUp, reject } = Promise.withResolvers<Exit>();
  // It is raced against the command's end; a failure after that has nobody to tell.
  givenUp.catch(() => undefined);

  const after = (ms: number, act: () => void): void => {
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        if (ms > LONGEST_TIMER) after(ms - LONGEST_TIMER, act);
        else act();
      },
      Math.min(ms, LONGEST_TIMER),
    );
    timers.add(timer);
  };
  const end = (graceMs: number): void => {
    running.terminate(graceMs).catch(reject);
    after(graceMs + LAST_WORD, () => giveUp({ signal: 'KILL' }));
  };
  const passOn = (name: SignalName): void => {
    signalled = true;
    const now = clock.monotonic();
    const second = name === 'INT' && now - lastInt < SECOND_INT;
    if (name === 'INT') lastInt = now;
    if (second) end(0);
    else running.signal(name).catch(reject);
    if (options.mustEnd && (name === 'TERM' || name === 'HUP')) end(KILL_GRACE);
  };
  const taken = signals.takeOver((name) => passOn(name.slice(3) as SignalName));
  // QUIT does not end sbx anywhere else, so nobody else listens to it.
  const onQuit = () => passOn('QUIT');
  process.on('SIGQUIT', onQuit);
  if (timeoutMs !== undefined) {
    after(timeoutMs, () => {
      timedOut = true;
      end(KILL_GRACE);
    });
  }
  return {
    get timedOut() {
      return timedOut;
    },
    get signalled() {
      return signalled;
    },
    end,
    givenUp,
    [Symbol.dispose]() {
      taken[Symbol.dispose]();
      process.off('SIGQUIT', onQuit);
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
