/** Notices that the sandbox of a session is paused, which closes no connection, and that it goes on. */
import type { Call } from '../backend/contract.ts';
import { KEEP_ALIVE, KEYS_UNANSWERED } from './link-watch.ts';

/** Most milliseconds between questions while nothing comes and nothing is typed: each may be a call to a service. */
const SELDOM = 60_000;
/** Milliseconds between questions while it is paused. */
const OFTEN = 1000;
/** Milliseconds that an answer may take. */
const ANSWER_DUE = 10_000;

/** What is asked and who wants to know. */
export interface PauseHooks {
  readonly isPaused: (call: Call) => Promise<boolean>;
  /** Called when it has been paused, and when it goes on. */
  readonly onChange: (isPaused: boolean) => void;
}

/** The watch over one connection. */
export interface PauseWatch extends Disposable {
  keysSent(): void;
  outputSeen(): void;
}

/** Asks when keys get no answer, and after a silence, then less and less often. */
export function watchPause({ isPaused, onChange }: PauseHooks, signal: AbortSignal): PauseWatch {
  const over = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let wasPaused = false;
  let awaitsOutput = false;
  let isHurried = false;
  let silence = KEEP_ALIVE;
  const askIn = (ms: number) => {
    clearTimeout(timer);
    if (!over.signal.aborted) timer = setTimeout(ask, ms);
  };
  const ask = async () => {
    awaitsOutput = false;
    isHurried = false;
    const due = AbortSignal.any([signal, over.signal, AbortSignal.timeout(ANSWER_DUE)]);
    // Whoever cannot say is not known to be paused; what else is wrong shows by itself.
    const isNow = await isPaused({ signal: due }).catch(() => wasPaused);
    if (over.signal.aborted) return;
    if (isNow !== wasPaused) onChange(isNow);
    wasPaused = isNow;
    silence = Math.min(SELDOM, silence * 2);
    askIn(isNow ? OFTEN : awaitsOutput ? KEYS_UNANSWERED : silence);
  };
  askIn(silence);
  return {
    keysSent() {
      if (awaitsOutput || wasPaused) return;
      awaitsOutput = true;
      askIn(KEYS_UNANSWERED);
    },
    outputSeen() {
      silence = KEEP_ALIVE;
      // It may go on already.
      if (wasPaused && !isHurried) askIn(0);
      else if (awaitsOutput) askIn(silence);
      isHurried = wasPaused;
      awaitsOutput = false;
    },
    [Symbol.dispose]() {
      over.abort();
      clearTimeout(timer);
    },
  };
}
