import type { Argv, TerminalSize } from '../backend/contract.ts';
import { quoteArgv } from '../util/shell-quote.ts';
import script from './terminal.sh';

/** The argv that runs `argv` on a terminal of `size` made inside the sandbox; exit codes pass, signals become 128 + n. */
export function terminalArgv(argv: Argv, size: TerminalSize): Argv {
  return [
    '/bin/sh',
    '-c',
    script,
    'sbx-terminal',
    `exec ${quoteArgv(argv)}`,
    String(size.rows),
    String(size.cols),
  ];
}
