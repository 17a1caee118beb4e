/** From how a command ended to the exit code that stands for it. */
import type { Exit } from '../backend/contract.ts';

/** The exit code of a command that ran out of time, as coreutils' `timeout` has it. */
export const EXIT_TIMED_OUT = 124;

/** 128 + SIGPIPE: what a command whose reader has gone ends with. */
export const EXIT_OUTPUT_CLOSED = 141;

/** The command's own code, or 128 + the number of the signal that ended it; 128 for a signal that this system does not know. */
export function exitCodeOfCommand(exit: Exit): number {
  if ('code' in exit) return exit.code & 0xff;
  // Most commands end by themselves, and node:os takes its time to load.
  const numbers: Readonly<Record<string, number>> = process.getBuiltinModule('node:os').constants.signals;
  return 128 + (numbers[`SIG${exit.signal}`] ?? 0);
}
