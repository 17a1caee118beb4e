/** From words to a command's input: split, then oclif's parser with values from environment and config behind it. */
import { parse } from '@oclif/core/parser';
import { SbxError } from '../errors.ts';
import { type SplitArgv, splitArgv } from './argv.ts';
import type { CommandClass } from './command-class.ts';
import type { Env, FlagDefaults } from './context.ts';
import { type AnyFlag, type ArgInput, allFlags, parseBoolean, shapesOf } from './flags.ts';

/** What a command gets to work with. */
export interface ParsedInput {
  readonly id: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly flags: Readonly<Record<string, unknown>>;
  /** The inner command, untouched. */
  readonly inner: readonly string[];
  /** The flags that stood on the command line themselves. */
  readonly explicit: ReadonlySet<string>;
}

/** Splits a command line as its command asks for. @throws SbxError `usage` */
export function splitFor(Class: CommandClass, argv: readonly string[]): SplitArgv {
  const after = Class.commandNeedsDashes ? undefined : Class.strictCommandArgument;
  return splitArgv(argv, { flags: shapesOf(allFlags(Class.flags)), positionals: after });
}

/** Whether a command takes an inner command. */
export function takesInner(Class: CommandClass): boolean {
  return Class.strictCommandArgument !== undefined || Class.commandNeedsDashes === true;
}

/** Parses a split command line: flag, else environment, else config, else default. @throws SbxError `usage` */
export async function parseInput(
  Class: CommandClass,
  id: string,
  split: SplitArgv,
  env: Env,
  defaults?: FlagDefaults,
): Promise<ParsedInput> {
  const configured = (await defaults?.(id)) ?? {};
  const flags: Record<string, AnyFlag> = {};
  for (const [name, flag] of Object.entries(allFlags(Class.flags))) {
    const fromEnv = env[flag.env ?? ''] || undefined;
    const text = fromEnv ?? configured[name];
    const source = fromEnv === undefined ? `${name} in the config file` : `$${flag.env}`;
    const preset = text === undefined ? {} : { default: () => externalValue(flag, text, source) };
    // oclif would read process.env by itself; the environment is the context's.
    flags[name] = { ...flag, env: undefined, ...preset } as unknown as AnyFlag;
  }
  const inner = takesInner(Class);
  const argv = inner || split.inner.length === 0 ? [...split.own] : [...split.own, '--', ...split.inner];
  try {
    const args = argumentsOnly(Class.args ?? {});
    const output = await parse(argv, { args, flags, strict: Class.strict !== false });
    const values: Record<string, unknown> = { ...output.flags };
    for (const [name, flag] of Object.entries(flags)) {
      if (flag.type === 'boolean' && !flag.allowNo) values[name] ??= false;
    }
    return {
      id,
      args: output.args,
      flags: values,
      inner: inner ? split.inner : [],
      explicit: new Set(output.raw.flatMap((token) => (token.type === 'flag' ? [token.flag] : []))),
    };
  } catch (error) {
    throw await usageError(error, Class, id, flags);
  }
}

/** oclif would read a missing argument from standard input, which belongs to the inner command, a file or a loop. */
function argumentsOnly(args: ArgInput): ArgInput {
  return Object.fromEntries(Object.entries(args).map(([name, arg]) => [name, { ...arg, ignoreStdin: true }]));
}

/** The value that a text from outside the command line gives a flag. */
async function externalValue(flag: AnyFlag, text: string, source: string): Promise<unknown> {
  if (flag.type === 'boolean') return parseBoolean(text, source);
  const one = async (value: string) => {
    if (flag.options !== undefined && !flag.options.includes(value)) {
      throw new SbxError('usage', `${source} is ${value}; it can be: ${flag.options.join(', ')}`);
    }
    try {
      return await flag.parse(value, {} as Parameters<typeof flag.parse>[1], flag);
    } catch (error) {
      throw new SbxError('usage', `${source}: ${(error as Error).message}`, { cause: error });
    }
  };
  if (!flag.multiple) return one(text);
  return Promise.all(text.split('\n').filter(Boolean).map(one));
}

/** oclif's errors in our words. Errors of the language itself stay what they are: bugs. */
async function usageError(
  error: unknown,
  Class: CommandClass,
  id: string,
  flags: Readonly<Record<string, AnyFlag>>,
): Promise<unknown> {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof ReferenceError)
    return error;
  const { usageLine, nearest } = await import('./suggest.ts');
  const clean = error.message
    .replace(/\nSee more help with --help$/, '')
    .replace(/^Parsing --(\S+) \n\t/, '--$1: ')
    .trim();
  const help = `usage: ${usageLine(id, Class)}`;
  const unknown = unknownFlags(error);
  if (unknown !== undefined) {
    const guess = nearest(
      unknown[0] ?? '',
      Object.keys(flags).map((name) => `--${name}`),
    );
    const hint = guess === undefined ? help : `did you mean ${guess}? ${help}`;
    return new SbxError('usage', `unknown flag ${unknown.join(', ')}`, { hint, cause: error });
  }
  const missing = missingArguments(error);
  if (missing !== undefined) {
    const what = missing.length === 1 ? 'argument' : 'arguments';
    return new SbxError('usage', `missing ${what}: ${missing.join(', ')}`, { hint: help, cause: error });
  }
  if (error instanceof SbxError)
    return new SbxError(error.code, clean, { hint: error.hint ?? help, cause: error });
  return new SbxError('usage', clean.charAt(0).toLowerCase() + clean.slice(1), { hint: help, cause: error });
}

function unknownFlags(error: Error): string[] | undefined {
  const isUnknown = error.message.startsWith('Nonexistent flag');
  return isUnknown && 'flags' in error && Array.isArray(error.flags) ? error.flags.map(String) : undefined;
}

/** Their names as the usage line has them. oclif's own text goes on about flags that we read otherwise. */
function missingArguments(error: Error): string[] | undefined {
  const isMissing = error.message.startsWith('Missing ') && error.message.includes(' required arg');
  if (!isMissing || !('args' in error) || !Array.isArray(error.args)) return undefined;
  return error.args.map(({ name }: { readonly name: string }) => name.toUpperCase());
}
