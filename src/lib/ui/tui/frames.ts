/**
 * When to draw. Never more than 30 times a second; and what nobody asked for by a key waits until drawing has cost
 * no more than a small share of the time, so that a busy terminal in a large window does not eat a processor.
 */

/** Least time between the starts of two frames, in milliseconds: 30 a second. */
export const LEAST_GAP_MS = 34;

/** A frame may take one part of so many of the time, where it was not asked for by a key. */
const COST_SHARE = 25;

/** Time, so that tests can set it. */
export interface FrameClock {
  /** Milliseconds that only ever grow. */
  now(): number;
  /** Runs it after `ms`. @returns what calls that off. */
  after(ms: number, run: () => void): () => void;
}

/** Draws when something has changed. */
export interface Frames extends Disposable {
  /** Something changed. `key`: a person waits for it. */
  request(cause: 'key' | 'feed'): void;
}

export const systemFrameClock: FrameClock = {
  now: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** @param draw draws what is so now; what it throws comes out of the timer, so it handles its own failures. */
export function createFrames(draw: () => void, clock: FrameClock = systemFrameClock): Frames {
  let started = Number.NEGATIVE_INFINITY;
  let cost = 0;
  let due = Number.POSITIVE_INFINITY;
  let cancel: (() => void) | undefined;
  let over = false;
  const run = () => {
    cancel = undefined;
    due = Number.POSITIVE_INFINITY;
    started = clock.now();
    draw();
    cost = clock.now() - started;
  };
  return {
    request(cause) {
      if (over) return;
      const gap = cause === 'key' ? LEAST_GAP_MS : Math.max(LEAST_GAP_MS, cost * COST_SHARE);
      const at = started + gap;
      if (at >= due) return;
      cancel?.();
      due = at;
      cancel = clock.after(Math.max(0, at - clock.now()), run);
    },
    [Symbol.dispose]() {
      over = true;
      cancel?.();
    },
  };
}
