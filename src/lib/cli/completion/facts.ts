/** What completion knows of the command line without loading a single command: what the build wrote for it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandTable } from '../command-class.ts';
import { baseFlags, type Completable } from '../flags.ts';

/** An argument as completion sees it. */
export interface ArgumentChoice extends Completable {
  readonly multiple?: boolean;
  readonly options?: readonly string[];
}

/** A flag as completion sees it. */
export interface FlagChoice extends ArgumentChoice {
  readonly type: 'boolean' | 'option';
  readonly char?: string;
  readonly summary?: string;
  readonly hidden?: boolean;
  readonly aliases?: readonly string[];
  readonly allowNo?: boolean;
  readonly exclusive?: readonly string[];
}

/** Flags by name. */
export type FlagChoices = Readonly<Record<string, FlagChoice>>;

/** A command as completion sees it. */
export interface Choice {
  /** Words with colons between them. */
  readonly id: string;
  readonly summary: string;
  readonly hidden?: boolean;
  readonly args: readonly ArgumentChoice[];
  /** Without those that every command has. */
  readonly flags: FlagChoices;
  /** See the statics of the same names in `CommandClass`. */
  readonly strictCommandArgument?: number;
  readonly commandNeedsDashes?: boolean;
}

/** All that can be typed. */
export interface Choices {
  readonly commands: readonly Choice[];
  /** Other names of commands, with colons too. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Topic → its one line. */
  readonly topics: Readonly<Record<string, string>>;
}

/** Reads what the build wrote. @throws Error when the installation is broken. */
export function choicesOf({ root }: CommandTable): Choices {
  return JSON.parse(readFileSync(join(root, 'dist/completion.json'), 'utf8')) as Choices;
}

const base: FlagChoices = baseFlags;

/** All flags of a command, or those that may stand before one. */
export function flagsOf(command: Choice | undefined): FlagChoices {
  return command === undefined ? base : { ...command.flags, ...without(base, command.flags) };
}

function without(all: FlagChoices, taken: FlagChoices): FlagChoices {
  return Object.fromEntries(Object.entries(all).filter(([name]) => taken[name] === undefined));
}

/** The completers of the word at `index` of the values of an argument or a flag. */
export function completersOf({ completes }: Completable, index = 0): readonly string[] {
  const places = completes?.split(' then ') ?? [];
  return (places[index] ?? places.at(-1))?.split('|') ?? [];
}
