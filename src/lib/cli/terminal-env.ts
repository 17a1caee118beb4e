/** What the environment says of whoever watches. Pure. */
import type { Env } from './context.ts';

/** Whether this runs in CI, where nobody answers and no line may replace itself. */
export function inCi({ CI }: Env): boolean {
  return CI !== undefined && CI !== '' && CI !== '0' && CI !== 'false';
}

/** Whether the terminal cannot move its cursor. */
export function isDumb({ TERM }: Env): boolean {
  return TERM === 'dumb';
}
