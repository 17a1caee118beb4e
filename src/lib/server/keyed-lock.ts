/** One at a time for each key, in the order of asking. */
export interface KeyedLock {
  /** Runs `act` when those before it with the same key are done, however they ended. */
  run<T>(key: string, act: () => Promise<T>): Promise<T>;
  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void>;
}

export function keyedLock(): KeyedLock {
  const tails = new Map<string, Promise<unknown>>();
  return {
    run(key, act) {
      const before = tails.get(key) ?? Promise.resolve();
      const result = before.then(act, act);
      // Whoever asked hears of the failure; those who wait do not care.
      const tail = result.catch(() => undefined);
      tails.set(key, tail);
      void tail.then(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
      return result;
    },
    async idle() {
      while (tails.size > 0) await Promise.all(tails.values());
    },
  };
}
