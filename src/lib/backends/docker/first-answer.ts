/** The first answer of what listens at an address. It may be no engine, take every connection and stay silent for ever. */

/**
 * After how long without an answer another connection asks whether anybody is there, and how long that may take, in
 * milliseconds. An engine that works on a long answer tells so at once.
 */
const PATIENCE_MS = 15_000;
const PING_MS = 15_000;

type Attempt<T> = (signal: AbortSignal) => Promise<T>;

/** What `ask` comes to; fails with ETIMEDOUT when neither it nor `ping` is answered. */
export async function firstAnswer<T>(
  ask: Attempt<T>,
  ping: Attempt<unknown>,
  signal: AbortSignal,
): Promise<T> {
  const silent = new AbortController();
  const over = new AbortController();
  const giveUp = () => {
    if (!over.signal.aborted) silent.abort();
  };
  let timer = setTimeout(() => {
    timer = setTimeout(giveUp, PING_MS);
    const pinged = ping(AbortSignal.any([signal, silent.signal, over.signal]));
    void pinged.then(() => clearTimeout(timer), giveUp);
  }, PATIENCE_MS);
  try {
    // What comes of it goes on after this, and only the caller may break it off then.
    return await ask(AbortSignal.any([signal, silent.signal]));
  } catch (error) {
    if (!silent.signal.aborted) throw error;
    throw Object.assign(new Error('no answer', { cause: error }), { code: 'ETIMEDOUT' });
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}
