/** Whether a terminal can be expected to show more than ASCII. Pure. */

/** As the C library decides it: the first of these that is set names the character set. */
export function decideUnicode(env: Readonly<Record<string, string | undefined>>): boolean {
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '');
}
