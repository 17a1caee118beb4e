/** How to start this very program again. */

/** The program and its first arguments; the words of a command line go behind them. */
export function selfCommand(): [string, ...string[]] {
  const [node, script] = process.argv;
  return [node ?? process.execPath, ...process.execArgv, ...(script === undefined ? [] : [script])];
}
