/** The one place that quotes for a shell. */

/** `text` as one word of POSIX sh, whatever is in it but NUL. */
export function quoteWord(text: string): string {
  return /^[A-Za-z0-9_@%+:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** An argv as words of POSIX sh, such that `sh -c` runs exactly it. */
export function quoteArgv(argv: readonly string[]): string {
  return argv.map(quoteWord).join(' ');
}
