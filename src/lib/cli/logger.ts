/** Messages about what sbx is doing, to stderr; never data. */
import type { Output } from './io.ts';

/** Where a command tells a person what happens. */
export interface Logger {
  /** A line that a person should see; silent with `--quiet`. */
  info(message: string): void;
  /** A line that a person should not miss. */
  warn(message: string): void;
  /** A line for `--debug`; a function is only called then. */
  debug(message: string | (() => string)): void;
}

/** How much a {@link Logger} says. */
export interface LogLevel {
  quiet: boolean;
  debug: boolean;
}

/** A logger that writes lines; `level` may change afterwards, when the flags are known. */
export function lineLogger(output: Output, level: LogLevel): Logger {
  return {
    info(message) {
      if (!level.quiet) output.write(`${message}\n`);
    },
    warn(message) {
      output.write(`warning: ${message}\n`);
    },
    debug(message) {
      if (level.debug) output.write(`debug: ${typeof message === 'string' ? message : message()}\n`);
    },
  };
}
