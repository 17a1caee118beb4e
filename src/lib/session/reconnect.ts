/** Dials again after a connection was lost, less and less often, until it is there or not worth it any more. */
import { SbxError } from '../errors.ts';
import { pause } from '../util/pause.ts';

const FIRST_DELAY = 250;
const LONGEST_DELAY = 10_000;
/** Milliseconds that one attempt may take. */
export const ATTEMPT_DUE = 10_000;

/** How long to go on, and who wants to know. */
export interface RedialOptions {
  readonly giveUpMs: number;
  readonly signal: AbortSignal;
  /** Called before each attempt, and before each wait with its milliseconds. */
  readonly onProgress: (attempt: number, waitMs: number) => void;
  /** Milliseconds that only grow. */
  readonly now?: (() => number) | undefined;
  /** Between 0 and 1. */
  readonly random?: (() => number) | undefined;
}

/**
 * The first result of `dial` that comes.
 * @throws what `dial` failed with, when that will not get better or the time is over.
 */
export async function redial<T>(
  dial: (signal: AbortSignal) => Promise<T>,
  { giveUpMs, signal, onProgress, now = monotonic, random = Math.random }: RedialOptions,
): Promise<T> {
  const end = now() + giveUpMs;
  for (let attempt = 1; ; attempt++) {
    onProgress(attempt, 0);
    const due = AbortSignal.timeout(ATTEMPT_DUE);
    try {
      return await dial(AbortSignal.any([signal, due]));
    } catch (error) {
      if (signal.aborted || !(due.aborted || mayGetBetter(error)) || now() >= end) throw error;
    }
    const longest = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (attempt - 1));
    // Those who lost the same link do not all come back at the same moment.
    const wait = Math.min(longest * (0.5 + random() / 2), Math.max(0, end - now()));
    onProgress(attempt, wait);
    await pause(wait, signal);
    signal.throwIfAborted();
  }
}

/** Not by `performance`, which loads all of node:perf_hooks. */
function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

function mayGetBetter(error: unknown): boolean {
  return error instanceof SbxError && error.retryable;
}
