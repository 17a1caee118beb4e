/**
 * From argv to an exit code. Finds the verb in a generated table and runs its class without loading oclif's Config,
 * Help or plugins; those serve help only. Start-up time is a feature: see docs/adr/0001-start-up.md before adding an
 * import here.
 */
import { SbxError } from '../errors.ts';
import { verbFirst } from './argv.ts';
import type { CommandClass, CommandTable } from './command-class.ts';
import { applyFlags, type Context, type Env } from './context.ts';
import { baseFlags, shapesOf } from './flags.ts';
import { type ParsedInput, parseInput, splitFor, takesInner } from './parse.ts';
import { reportOf } from './report.ts';

/** Runs one command line to its end. Never throws; reports on stderr. @returns the exit code. */
export async function main(argv: readonly string[], table: CommandTable, context: Context): Promise<number> {
  const state: Progress = { own: argv, Class: undefined, debug: undefined, json: undefined };
  try {
    return await dispatch(argv, table, context, state);
  } catch (error) {
    const { text, exit } = reportOf(error, {
      json: state.json ?? asksFor(['--json'], state.own, context.env, 'SBX_JSON'),
      debug: state.debug ?? asksFor(['--debug', '--verbose'], state.own, context.env, 'SBX_DEBUG'),
      received: context.signals.received,
      ownFailureExit: state.Class?.ownFailureExit,
    });
    context.io.stderr.write(text);
    return exit;
  }
}

/** What is known when a command fails. */
interface Progress {
  own: readonly string[];
  Class: CommandClass | undefined;
  json: boolean | undefined;
  debug: boolean | undefined;
}

async function dispatch(
  argv: readonly string[],
  table: CommandTable,
  context: Context,
  state: Progress,
): Promise<number> {
  context.settings.words = argv;
  const words = verbFirst(argv, shapesOf(baseFlags));
  const first = words[0];
  if (first === undefined || first === 'help' || first === '-h' || first === '--help') {
    const { showHelp } = await import('./help.ts');
    return showHelp(words.slice(1), table, context);
  }
  if (first === '--version' || first === '-V') {
    context.io.stdout.write(`sbx ${SBX_VERSION}\n`);
    return 0;
  }
  const found = findCommand(words, table);
  if (found === undefined) {
    const { unknownCommand } = await import('./help.ts');
    return unknownCommand(words, table, context);
  }
  const [id, rest] = found;
  const load = table.commands[id];
  if (load === undefined) throw new Error(`the command table has no ${id}`);
  const { default: Class } = await load();
  state.Class = Class;
  if (Class.raw) return (await new Class(context, unparsed(id, rest), table).run()) ?? 0;
  const split = splitFor(Class, rest);
  state.own = split.own;
  if (split.help) {
    const { showHelp } = await import('./help.ts');
    return showHelp(id.split(':'), table, context);
  }
  if (!takesInner(Class)) state.own = rest;
  const input = await parseInput(Class, id, split, context.env, context.flagDefaults);
  apply(input, context, state);
  return (await new Class(context, input, table).run()) ?? 0;
}

/** The input of a command whose words are its own. */
function unparsed(id: string, inner: readonly string[]): ParsedInput {
  return { id, args: {}, flags: {}, inner, explicit: new Set() };
}

/** Makes the global flags known to the context. */
function apply({ flags }: ParsedInput, { settings }: Context, state: Progress): void {
  const text = (name: string) => (typeof flags[name] === 'string' ? flags[name] : undefined);
  applyFlags(flags, settings);
  state.debug = settings.debug;
  state.json = flags.json === true || text('output') === 'json' || text('output') === 'jsonl';
}

/** The command that the words begin with, the longest id first, and the words after it. */
export function findCommand(
  words: readonly string[],
  table: CommandTable,
): [string, readonly string[]] | undefined {
  for (let length = Math.min(3, words.length); length > 0; length--) {
    const name = words.slice(0, length).join(':');
    // A word with a colon is never a verb: `ports:wait` is how the table spells it, not a person.
    if (words.slice(0, length).some((word) => word.includes(':'))) continue;
    const id = Object.hasOwn(table.aliases, name) ? table.aliases[name] : name;
    if (id !== undefined && Object.hasOwn(table.commands, id)) return [id, words.slice(length)];
  }
  return undefined;
}

/** Before the flags are parsed: whether one of them was asked for. */
function asksFor(flags: readonly string[], own: readonly string[], env: Env, variable: string): boolean {
  const end = own.indexOf('--');
  const words = end < 0 ? own : own.slice(0, end);
  return flags.some((flag) => words.includes(flag)) || /^(1|true|yes|on)$/i.test(env[variable] ?? '');
}

/** An error for a verb that does not exist. */
export function noSuchCommand(name: string, guess: string | undefined): SbxError {
  return new SbxError('usage', `there is no command ${name}`, {
    hint: guess === undefined ? 'sbx help lists the commands' : `did you mean: sbx ${guess}`,
  });
}
