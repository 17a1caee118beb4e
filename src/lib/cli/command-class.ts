/** What a command class declares about itself: oclif's statics, read by parser, help, manifest and dispatcher. */
import type { Context } from './context.ts';
import type { ArgInput, FlagInput } from './flags.ts';
import type { ParsedInput } from './parse.ts';

/** A command that can run. */
export interface Runnable {
  run(): Promise<number | undefined>;
}

/** The static side of a command. Its id comes from its file: `commands/ports/wait.ts` is `ports:wait`. */
export interface CommandClass {
  new (context: Context, input: ParsedInput, table?: CommandTable): Runnable;
  /** One line, lower case, without a full stop. */
  readonly summary: string;
  readonly description?: string;
  readonly examples?: readonly string[];
  /** What stands behind `sbx VERB [FLAGS]`, where the arguments alone do not say it. */
  readonly usage?: string;
  readonly args?: ArgInput;
  readonly flags?: FlagInput;
  readonly aliases?: readonly string[];
  readonly hidden?: boolean;
  /** true: every word is the command's own, `--help` too: nothing is parsed, and neither environment nor config is asked. */
  readonly raw?: boolean;
  /** false: more arguments than declared are allowed. */
  readonly strict?: boolean;
  /** How many arguments stand before an inner command, which then begins at the next word or at `--`. */
  readonly strictCommandArgument?: number;
  /** The inner command begins at `--` only. */
  readonly commandNeedsDashes?: boolean;
  /** The exit code of our own failures, where other codes belong to the inner command. Usage errors stay 2. */
  readonly ownFailureExit?: number;
}

/** Commands by id (`ports:wait`), and other names for them. Generated when sbx is built. */
export interface CommandTable {
  /** The package's folder. */
  readonly root: string;
  readonly commands: Readonly<Record<string, () => Promise<{ readonly default: CommandClass }>>>;
  readonly aliases: Readonly<Record<string, string>>;
}
