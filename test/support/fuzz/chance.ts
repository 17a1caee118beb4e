/** Chance that can be had again: the same seed gives the same choices. */
export interface Chance {
  /** From 0 to below `limit`, a whole number. */
  below(limit: number): number;
  /** Whether something of this probability happens. */
  is(probability: number): boolean;
  pick<T>(of: readonly T[]): T;
}

/** The generator is mulberry32. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    is: (probability) => next() < probability,
    pick(of) {
      if (of.length === 0) throw new Error('nothing to pick from');
      return of[below(of.length)] as (typeof of)[number];
    },
  };
}
