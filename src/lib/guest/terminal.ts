import type { Argv, TerminalSize } from '../backend/contract.ts';
import { quoteArgv } from '../util/shell-quote.ts';
import script from './terminal.sh';

/** A command on a terminal of `size` made inside the sandbox; exit codes pass, signals become 128 + n. */
export function terminalCommand(argv: Argv, size: TerminalSize): { argv: Argv; env: Record<string, string> } {
  return {
    argv: [
      '/bin/sh',
      '-c',
      'eval "$SBX_TERMINAL"',
      'sbx-terminal',
      `exec ${quoteArgv(argv)}`,
      String(size.rows),
      String(size.cols),
    ],
    env: { SBX_TERMINAL: script },
  };
}
