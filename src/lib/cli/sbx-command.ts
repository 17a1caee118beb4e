/** The base of every command: typed input, the context, and ways to print a result. */
import type { Interfaces } from '@oclif/core';
import { decideColor } from '../ui/color.ts';
import { type Format, render, type View } from '../ui/output.ts';
import type { CommandTable, Runnable } from './command-class.ts';
import type { Context } from './context.ts';
import type { baseFlags } from './flags.ts';
import type { ParsedInput } from './parse.ts';

type None = Record<never, never>;

/** The types of a command's arguments. */
export type ArgsOf<T> = T extends { readonly args: infer A } ? Interfaces.InferredArgs<A> : None;
/** The types of a command's flags, the global ones included. */
export type FlagsOf<T> = Interfaces.InferredFlags<typeof baseFlags> &
  (T extends { readonly flags: infer F } ? Interfaces.InferredFlags<F> : None);

/**
 * A command. Subclasses name themselves: `class Ls extends SbxCommand<typeof Ls>`, declare oclif's `summary`, `args`,
 * `flags`, `examples` and `aliases` as statics, and implement `run`.
 */
export abstract class SbxCommand<T extends object> implements Runnable {
  readonly context: Context;
  readonly args: ArgsOf<T>;
  readonly flags: FlagsOf<T>;
  /** The command to run inside a sandbox: argv, untouched. */
  readonly inner: readonly string[];
  readonly #input: ParsedInput;
  readonly #table: CommandTable | undefined;

  constructor(context: Context, input: ParsedInput, table?: CommandTable) {
    this.context = context;
    this.args = input.args as ArgsOf<T>;
    this.flags = input.flags as FlagsOf<T>;
    this.inner = input.inner;
    this.#table = table;
    this.#input = input;
  }

  /** Does it. Returns the exit code; undefined is 0. Throws SbxError for expected failures. */
  abstract run(): Promise<number | undefined>;

  /** All commands, and where the package is. @throws Error in a command that another one made. */
  get table(): CommandTable {
    if (this.#table === undefined) throw new Error('this command knows no others');
    return this.#table;
  }

  /** How the result is to be printed. What stands on the command line wins over the environment. */
  get format(): Format {
    const { json, output, quiet } = this.#input.flags as { json?: boolean; output?: Format; quiet?: boolean };
    const { explicit } = this.#input;
    if (explicit.has('output') && output !== undefined && !explicit.has('json')) return output;
    if (explicit.has('quiet') && !explicit.has('json')) return 'name';
    if (json) return 'json';
    return output ?? (quiet ? 'name' : 'table');
  }

  /** Whether nothing stands behind the verb on the command line but how it is to look. */
  get isBare(): boolean {
    const { args, explicit, inner } = this.#input;
    if (inner.length > 0 || Object.values(args).some((arg) => arg !== undefined)) return false;
    return [...explicit].every((flag) => flag === 'color' || flag === 'debug');
  }

  /** Whether the result is for a program. */
  get wantsJson(): boolean {
    return this.format === 'json' || this.format === 'jsonl';
  }

  /** Whether stdout is to be coloured. */
  get color(): boolean {
    const { io, env, settings } = this.context;
    return decideColor({ isTTY: io.stdout.isTTY, env, flag: settings.color });
  }

  /** Prints a list on stdout in the format asked for. */
  async print<Row>(rows: readonly Row[], view: View<Row>): Promise<void> {
    await this.#render(rows, view);
  }

  /** Prints one thing on stdout in the format asked for. */
  async printOne<Row>(row: Row, view: View<Row>): Promise<void> {
    await this.#render(row, view, true);
  }

  /** Prints one line of text on stdout. */
  line(text: string): void {
    this.context.io.stdout.write(`${text}\n`);
  }

  /**
   * Asks before something is destroyed; `--yes` answers.
   * @throws SbxError `usage` when nobody can be asked, `failed` when the answer is no.
   */
  async confirm(message: string): Promise<boolean> {
    if (this.context.settings.yes) return true;
    return (await this.context.prompter()).confirm({ message, flag: '--yes' });
  }

  async #render<Row>(data: Row | readonly Row[], view: View<Row>, single = false): Promise<void> {
    const { io, clock } = this.context;
    const columns = io.stdout.columns;
    const options = { format: this.format, columns, color: this.color, now: clock.now() };
    const rows = single ? [data as Row] : (data as readonly Row[]);
    io.stdout.write(await render(rows, view, { ...options, single }));
  }
}
