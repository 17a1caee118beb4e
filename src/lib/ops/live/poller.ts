/** Asks many again and again, a few at a time; one that hangs is passed over, and so never in the way of the others. */
import type { Call } from '../../backend/contract.ts';
import { pause } from '../../util/pause.ts';

/** What is asked again and again. */
export interface Job {
  /** Milliseconds from one answer to the next question. Read each time. */
  everyMs(): number;
  /** Asks once and tells whoever wants to know. Expected failures are its own matter. */
  ask(call: Call): Promise<void>;
}

export interface PollerOptions {
  /** Questions at a time. */
  readonly most: number;
  /** A question that is older no longer counts among them. */
  readonly patienceMs: number;
}

/** Jobs by name. */
export interface Poller {
  /** From now on these, and no others: those that were not there begin, those that are gone are called off. */
  set(jobs: ReadonlyMap<string, Job>): void;
  /** Asks this one now rather than when it is due. */
  hurry(name: string): void;
  /** Rejects with the first failure that a job did not handle; resolves when the call is given up. */
  readonly done: Promise<void>;
}

/** Polls until the call is given up. */
export function createPoller({ most, patienceMs }: PollerOptions, call: Call): Poller {
  const running = new Map<string, { readonly stop: AbortController; wake: AbortController }>();
  const slots = createSlots(most);
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  const stopAll = () => {
    for (const { stop } of running.values()) stop.abort(call.signal.reason);
    resolve();
  };
  if (call.signal.aborted) stopAll();
  else call.signal.addEventListener('abort', stopAll, { once: true });

  async function keep(name: string, job: Job, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const release = await slots.take();
      try {
        if (signal.aborted) return;
        const answer = job.ask({ signal });
        await Promise.race([answer, pause(patienceMs, signal)]);
        release();
        await answer;
      } finally {
        release();
      }
      const own = running.get(name);
      if (own === undefined || signal.aborted) return;
      own.wake = new AbortController();
      await pause(job.everyMs(), AbortSignal.any([signal, own.wake.signal]));
    }
  }

  return {
    done,
    set(jobs) {
      for (const [name, { stop }] of running) {
        if (jobs.has(name)) continue;
        stop.abort();
        running.delete(name);
      }
      for (const [name, job] of jobs) {
        if (running.has(name) || call.signal.aborted) continue;
        const stop = new AbortController();
        running.set(name, { stop, wake: new AbortController() });
        keep(name, job, stop.signal).catch((error: unknown) => {
          if (!stop.signal.aborted) reject(error);
        });
      }
    },
    hurry: (name) => running.get(name)?.wake.abort(),
  };
}

function createSlots(most: number) {
  let free = most;
  const waiting: (() => void)[] = [];
  return {
    /** Resolves with what gives the place back; calling it twice gives it back once. */
    async take(): Promise<() => void> {
      if (free > 0) free--;
      else await new Promise<void>((go) => waiting.push(go));
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        const next = waiting.shift();
        if (next === undefined) free++;
        else next();
      };
    },
  };
}
