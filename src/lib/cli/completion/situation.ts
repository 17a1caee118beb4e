/** What is being typed: words up to the cursor, read as `main` would read them once they are complete. Pure. */
import { type FlagShape, lookupOf, wantsNext } from '../argv.ts';
import { type Choice, type Choices, type FlagChoice, type FlagChoices, flagsOf } from './facts.ts';

/** Where the cursor is. */
export type Place =
  /** At a verb or an argument. */
  | { readonly kind: 'word' }
  /** At the name of a flag. */
  | { readonly kind: 'flag' }
  /** At the value of a flag; `before` stands in front of it in the same word, such as `--output=`. */
  | { readonly kind: 'value'; readonly flag: FlagChoice; readonly before: string }
  /** In an inner command, which begins at that word. */
  | { readonly kind: 'inner'; readonly at: number };

/** The words before the cursor, understood. */
export interface Situation {
  readonly place: Place;
  /** The word up to the cursor, without what a value's `before` holds. */
  readonly word: string;
  readonly command: Choice | undefined;
  /** Words of verbs so far. */
  readonly path: readonly string[];
  /** Whether a verb may stand here. */
  readonly verbMayFollow: boolean;
  /** Whether it is help that is asked for: no arguments follow. */
  readonly isHelp: boolean;
  /** The flags that can be given. */
  readonly known: FlagChoices;
  /** Flags that were given, by name, and their values. */
  readonly flags: ReadonlyMap<string, readonly string[]>;
  /** Arguments that were given. */
  readonly args: readonly string[];
}

/**
 * Reads `words`, of which the last is the one at the cursor; it may be empty.
 * @returns undefined when they make no sense, such as after an unknown verb.
 */
export function situationOf(words: readonly string[], choices: Choices): Situation | undefined {
  const last = words.length - 1;
  const current = words[last] ?? '';
  const flags = new Map<string, string[]>();
  const args: string[] = [];
  let path: string[] = [];
  let command: Choice | undefined;
  let known = flagsOf(undefined);
  let verbMayFollow = true;
  let isHelp = false;
  let dashes = false;
  const at = (place: Place, word = current): Situation => ({
    place,
    word,
    command,
    path,
    verbMayFollow: verbMayFollow && !dashes,
    isHelp,
    known,
    flags,
    args,
  });

  for (let i = 0; i < last; i++) {
    const word = words[i] ?? '';
    if (!dashes && word === '--') {
      if (innerAfter(command) !== undefined) return at({ kind: 'inner', at: i + 1 });
      dashes = true;
    } else if (!dashes && word.startsWith('-') && word !== '-') {
      const takesNext = wantsNext(word, lookupOf(shapesOf(known)));
      const [name, value] = readFlag(word, known);
      const flag = name === undefined ? undefined : known[name];
      if (takesNext && i + 1 === last && flag !== undefined) return at({ kind: 'value', flag, before: '' });
      const given = takesNext ? words[++i] : value;
      if (name !== undefined) flags.set(name, [...(flags.get(name) ?? []), given ?? '']);
      if (command !== undefined) verbMayFollow = false;
    } else if (path.length === 0 && !isHelp && word === 'help') {
      isHelp = true;
    } else {
      const longer = verbMayFollow ? pathWith([...path, word], choices) : undefined;
      if (longer !== undefined) {
        [path, command] = longer;
        known = flagsOf(command);
      } else if (command === undefined || isHelp) return undefined;
      else if (args.length === command.strictCommandArgument) return at({ kind: 'inner', at: i });
      else {
        args.push(word);
        verbMayFollow = false;
      }
    }
  }

  if (isHelp || dashes || !current.startsWith('-') || current === '-') {
    const startsInner = command !== undefined && args.length === command.strictCommandArgument;
    if (startsInner && current !== '-') return at({ kind: 'inner', at: last });
    return at({ kind: current === '-' && !dashes ? 'flag' : 'word' });
  }
  const [name, value] = readFlag(current, known);
  const flag = name === undefined ? undefined : known[name];
  if (flag?.type !== 'option' || value === undefined) return at({ kind: 'flag' });
  return at({ kind: 'value', flag, before: current.slice(0, current.length - value.length) }, value);
}

function shapesOf(flags: FlagChoices): Record<string, FlagShape> {
  const shapes = Object.entries(flags).map(([name, { type, char, aliases, allowNo }]) => [
    name,
    { takesValue: type === 'option', char, aliases, allowNo },
  ]);
  return Object.fromEntries(shapes) as Record<string, FlagShape>;
}

/** How many arguments stand before an inner command; undefined: there is none. */
function innerAfter(command: Choice | undefined): number | undefined {
  return command?.commandNeedsDashes ? Number.POSITIVE_INFINITY : command?.strictCommandArgument;
}

/** The verb that the words are, or the beginning of one. */
function pathWith(
  words: readonly string[],
  { commands, aliases }: Choices,
): [string[], Choice | undefined] | undefined {
  const name = words.join(':');
  const id = (Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? name;
  const command = commands.find((each) => each.id === id);
  const isTopic = commands.some((each) => each.id.startsWith(`${id}:`));
  return command === undefined && !isTopic ? undefined : [id.split(':'), command];
}

/** The name of the flag that a word gives, the last one of `-it`, and the value in the same word. */
function readFlag(word: string, known: FlagChoices): [name: string | undefined, value: string | undefined] {
  const all = Object.entries(known);
  if (word.startsWith('--')) {
    const equals = word.indexOf('=');
    const long = equals < 0 ? word.slice(2) : word.slice(2, equals);
    const name = all.find(
      ([each, { aliases = [], allowNo }]) =>
        each === long || aliases.includes(long) || (allowNo && `no-${each}` === long),
    )?.[0];
    return [name, equals < 0 ? undefined : word.slice(equals + 1)];
  }
  let name: string | undefined;
  for (let i = 1; i < word.length; i++) {
    const found = all.find(([, { char }]) => char === word[i]);
    name = found?.[0];
    if (found === undefined) break;
    if (found[1].type === 'option') return [name, i === word.length - 1 ? undefined : word.slice(i + 1)];
  }
  return [name, undefined];
}
