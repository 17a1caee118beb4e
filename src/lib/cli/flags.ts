/** Flag and argument definitions: oclif's, the kinds that only sbx has, and the ones that every command has. */

import type { Interfaces } from '@oclif/core';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SbxError } from '../errors.ts';
import { parseDuration } from '../util/duration.ts';
import { parseSize } from '../util/size.ts';
import type { FlagShape } from './argv.ts';

export { Args, Flags };

/** A map of flags as a command declares it. */
export type FlagInput = Interfaces.FlagInput;
/** A map of arguments as a command declares it. */
export type ArgInput = Interfaces.ArgInput;

/**
 * What an argument or the value of a flag is, for completion: a name of completion/completers.ts, or several with `|`
 * between them. In a list ` then ` stands between its first word and those after it. `options` complete by themselves.
 */
export type Completable = { readonly completes?: string };

/** As a plain object, because oclif knows no such property of a kind of flag. */
const freeText: object = { completes: 'none' } satisfies Completable;

/** A flag that takes a duration such as `30s` or `1h30m`; its value is in milliseconds. */
export const duration = Flags.custom<number>({
  ...freeText,
  helpValue: '<duration>',
  parse: async (text) => parseDuration(text),
});

/** A flag that takes a size such as `512m` or `2g`; its value is in bytes. */
export const size = Flags.custom<number>({
  ...freeText,
  helpValue: '<size>',
  parse: async (text) => parseSize(text),
});

/** The formats that `--output` takes. */
export const FORMATS = ['table', 'wide', 'json', 'jsonl', 'yaml', 'name'] as const;

const helpGroup = 'GLOBAL';

/** The flags of every command. */
export const baseFlags = {
  json: Flags.boolean({ summary: 'print JSON; short for --output json', helpGroup }),
  output: Flags.option({ options: FORMATS })({ char: 'o', summary: 'how to print the result', helpGroup }),
  quiet: Flags.boolean({ char: 'q', summary: 'print names only, and no notices', helpGroup }),
  'no-input': Flags.boolean({ summary: 'never ask; fail where an answer is needed', helpGroup }),
  yes: Flags.boolean({ char: 'y', summary: 'answer yes to every confirmation', helpGroup }),
  debug: Flags.boolean({
    aliases: ['verbose'],
    summary: 'say on stderr what happens, and show stacks of errors',
    helpGroup,
  }),
  backend: Flags.string({
    char: 'b',
    completes: 'backend',
    summary: 'the configured backend to use',
    helpValue: '<name>',
    helpGroup,
  }),
  color: Flags.boolean({ allowNo: true, summary: 'colour the output, or never', helpGroup }),
};

/** One flag, whatever its type. */
export type AnyFlag = FlagInput[string];

/** The environment variable of a flag: `--no-input` is `SBX_NO_INPUT`. */
export function envOf(flag: string): string {
  return `SBX_${flag.toUpperCase().replaceAll('-', '_')}`;
}

/**
 * All flags of a command, with its environment variable put on each. A repeatable flag takes one value each time:
 * oclif would let `-e A=b box` swallow the name of the sandbox.
 */
export function allFlags(own: FlagInput | undefined): Record<string, AnyFlag> {
  const all: Record<string, AnyFlag> = {};
  for (const [name, flag] of Object.entries<AnyFlag>({ ...(own ?? {}), ...pick(own) })) {
    const single = flag.type === 'option' && flag.multiple ? { multipleNonGreedy: true } : {};
    all[name] = { ...flag, name, env: flag.env ?? envOf(name), ...single } as AnyFlag;
  }
  return all;
}

/** The base flags that a command does not define anew. */
function pick(own: FlagInput | undefined): FlagInput {
  return Object.fromEntries(Object.entries<AnyFlag>(baseFlags).filter(([name]) => own?.[name] === undefined));
}

/** What the splitter needs to know of flags. */
export function shapesOf(flags: FlagInput): Record<string, FlagShape> {
  return Object.fromEntries(
    Object.entries<AnyFlag>(flags).map(([name, flag]) => [
      name,
      {
        takesValue: flag.type === 'option',
        allowNo: flag.type === 'boolean' && flag.allowNo,
        char: flag.char,
        aliases: flag.aliases,
        charAliases: flag.charAliases,
      },
    ]),
  );
}

/** Reads what an environment variable says of a boolean. @throws SbxError `usage` */
export function parseBoolean(text: string, source: string): boolean {
  const known = { 1: true, true: true, yes: true, on: true, 0: false, false: false, no: false, off: false };
  const value = new Map(Object.entries(known)).get(text.toLowerCase());
  if (value === undefined) throw new SbxError('usage', `${source} is neither true nor false: ${text}`);
  return value;
}
