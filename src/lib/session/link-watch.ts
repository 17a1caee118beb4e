/** Notices a connection that is open on one side only: asks whether the other end is there, now and then and when keys get no answer. */
import type { Call } from '../backend/contract.ts';

/** Milliseconds of silence after which the other end is asked. */
export const KEEP_ALIVE = 5000;
/** Milliseconds that keys may go without any output before the other end is asked. */
export const KEYS_UNANSWERED = 1000;
/** Milliseconds that the other end has to answer. */
export const ANSWER_DUE = 5000;

/** The watch over one connection. */
export interface LinkWatch extends Disposable {
  keysSent(): void;
  outputSeen(): void;
  /** Rejects when the other end does not answer. */
  readonly broken: Promise<never>;
}

/** Watches by `probe`. */
export function watchLink(probe: (call: Call) => Promise<void>, signal: AbortSignal): LinkWatch {
  const { promise: broken, reject } = Promise.withResolvers<never>();
  // The connection may end before anybody has waited for this.
  broken.catch(() => undefined);
  let timer: NodeJS.Timeout | undefined;
  let isAsking = false;
  let isOver = false;
  let awaitsOutput = false;
  const askIn = (ms: number) => {
    clearTimeout(timer);
    if (!isOver && !isAsking) timer = setTimeout(ask, ms);
  };
  const ask = async () => {
    isAsking = true;
    awaitsOutput = false;
    const overdue = AbortSignal.timeout(ANSWER_DUE);
    try {
      await Promise.race([probe({ signal: AbortSignal.any([signal, overdue]) }), aborted(overdue)]);
    } catch (error) {
      return reject(overdue.aborted ? new Error('the other end does not answer') : error);
    }
    isAsking = false;
    askIn(awaitsOutput ? KEYS_UNANSWERED : KEEP_ALIVE);
  };
  askIn(KEEP_ALIVE);
  return {
    broken,
    keysSent() {
      if (awaitsOutput) return;
      awaitsOutput = true;
      askIn(KEYS_UNANSWERED);
    },
    outputSeen() {
      if (awaitsOutput) askIn(KEEP_ALIVE);
      awaitsOutput = false;
    },
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
