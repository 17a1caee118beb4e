/** The `later` of clocks for tests, so that no test depends on how fast this machine is. */

/** No time goes by: what would come after a while never does. */
export function timeless(): Disposable {
  return { [Symbol.dispose]: () => undefined };
}

/** All time has gone by already: what would come after a while comes at once. */
export function hasty(_ms: number, act: () => void): Disposable {
  act();
  return { [Symbol.dispose]: () => undefined };
}

/** A clock of the system with one of these. */
export function clockWith(later: typeof hasty) {
  return { now: () => new Date(), monotonic: () => performance.now(), later };
}
