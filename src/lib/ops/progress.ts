/** How far long work is, for somebody who waits. Who shows it, where and whether at all is not known here. */

/** Counters of a step. */
export interface Counted {
  readonly files: number;
  readonly bytes: number;
}

/** What long work tells. Functions may be passed around alone. */
export interface Progress {
  /** A step begins, such as `cloning URL`; the one before is over. */
  step(text: string): void;
  /** How far the present step is, in words that take the place of the last. */
  detail(text: string): void;
  /** How much the present step has done so far. */
  count(done: Counted): void;
  /** What a command of the present step prints. */
  output(data: Uint8Array): void;
  /** The present step has failed: the end of its output is shown, unless all of it was. */
  fail(): void;
  /** A line that stays. */
  note(text: string): void;
}
