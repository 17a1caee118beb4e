/** The last values of something as a line of bars, and the bounded memory behind it. Pure. */

/** Values that are kept: more than any line shows. */
export const HISTORY_LENGTH = 60;

const BARS = '▁▂▃▄▅▆▇█';

/** The values with one more at the end, the oldest dropped when there are too many. Unknown is kept as a gap. */
export function remember(
  history: readonly (number | undefined)[],
  value: number | undefined,
): readonly (number | undefined)[] {
  return [...history.slice(1 - HISTORY_LENGTH), value];
}

/**
 * One bar a value, the newest on the right, `cells` wide.
 * @param full what a whole bar stands for; larger values raise it.
 */
export function sparkline(history: readonly (number | undefined)[], cells: number, full: number): string {
  const shown = cells <= 0 ? [] : history.slice(-cells);
  const most = shown.reduce<number>((top, value) => Math.max(top, value ?? 0), full);
  const bars = shown.map((value) => {
    if (value === undefined) return ' ';
    const level = most <= 0 ? 0 : Math.round((value / most) * (BARS.length - 1));
    return BARS[Math.max(0, Math.min(BARS.length - 1, level))];
  });
  return bars.join('').padStart(cells);
}
