/**
 * Splits a command line into the words for sbx and the words of the command that runs inside a sandbox.
 * Runs before any parser, so that nothing of the inner command is ever interpreted. Pure.
 */
import { SbxError } from '../errors.ts';

/** What the splitter needs to know of one flag. */
export interface FlagShape {
  readonly takesValue: boolean;
  readonly allowNo?: boolean | undefined;
  readonly char?: string | undefined;
  readonly aliases?: readonly string[] | undefined;
  readonly charAliases?: readonly string[] | undefined;
}

/** What the splitter needs to know of a command. */
export interface ArgvShape {
  readonly flags: Readonly<Record<string, FlagShape>>;
  /** How many words come before the inner command; undefined: only `--` starts one. */
  readonly positionals: number | undefined;
}

/** The two halves of a command line. Concatenated in order they hold every word but one separating `--`. */
export interface SplitArgv {
  /** Flags and arguments of sbx; contains no `--`. */
  readonly own: readonly string[];
  /** The inner command, untouched; empty when there is none. */
  readonly inner: readonly string[];
  /** Whether `-h` or `--help` stands among the words for sbx. */
  readonly help: boolean;
}

/** Flags by what is typed: names and other names behind `--`, letters behind `-`. */
export interface Lookup {
  readonly long: ReadonlyMap<string, FlagShape>;
  readonly short: ReadonlyMap<string, FlagShape>;
}

/**
 * Splits at `--` or at the first word after `shape.positionals` arguments, whichever comes first.
 * Unknown flags stay in `own`, for the parser to refuse.
 * @throws SbxError `usage` when a value is given to a flag that takes none.
 */
export function splitArgv(argv: readonly string[], shape: ArgvShape): SplitArgv {
  const lookup = lookupOf(shape.flags);
  const own: string[] = [];
  let positionals = 0;
  let help = false;
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (word === '--') return { own, inner: argv.slice(i + 1), help };
    if (word.startsWith('-') && word !== '-') {
      if (word === '-h' || word === '--help') {
        help = true;
        continue;
      }
      own.push(word);
      const next = argv[i + 1];
      if (wantsNext(word, lookup) && next !== undefined) {
        own.push(next);
        i++;
      }
      continue;
    }
    if (positionals === shape.positionals) return { own, inner: argv.slice(i), help };
    positionals++;
    own.push(word);
  }
  return { own, inner: [], help };
}

/**
 * Moves flags that stand before the verb behind it: `-b docker ls` is `ls -b docker`.
 * @param flags the flags that every command has.
 */
export function verbFirst(
  argv: readonly string[],
  flags: Readonly<Record<string, FlagShape>>,
): readonly string[] {
  const first = argv[0];
  if (first === undefined || !first.startsWith('-')) return argv;
  const lookup = lookupOf(flags);
  let i = 0;
  for (; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (!word.startsWith('-') || word === '-' || word === '--') break;
    if (!isKnown(word, lookup)) return argv;
    if (wantsNext(word, lookup)) i++;
  }
  const verb = argv[i];
  if (verb === undefined || verb.startsWith('-')) return argv;
  return [verb, ...argv.slice(0, i), ...argv.slice(i + 1)];
}

/** Flags by what is typed. */
export function lookupOf(flags: Readonly<Record<string, FlagShape>>): Lookup {
  const long = new Map<string, FlagShape>();
  const short = new Map<string, FlagShape>();
  for (const [name, flag] of Object.entries(flags)) {
    for (const each of [name, ...(flag.aliases ?? [])]) long.set(each, flag);
    for (const each of [flag.char, ...(flag.charAliases ?? [])])
      if (each !== undefined) short.set(each, flag);
  }
  return { long, short };
}

function isKnown(word: string, { long, short }: Lookup): boolean {
  if (!word.startsWith('--')) return short.has(word[1] ?? '');
  const name = word.slice(2).split('=', 1)[0] ?? '';
  return long.has(name) || (name.startsWith('no-') && long.get(name.slice(3))?.allowNo === true);
}

/** Whether the word after this flag is its value. @throws SbxError `usage` when a value is given to a flag that takes none. */
export function wantsNext(word: string, { long, short }: Lookup): boolean {
  if (word.startsWith('--')) {
    const equals = word.indexOf('=');
    const flag = long.get(equals < 0 ? word.slice(2) : word.slice(2, equals));
    if (equals < 0) return flag?.takesValue === true;
    // oclif would take the text after "=" for an argument, and the sandbox's name with it.
    if (flag !== undefined && !flag.takesValue) {
      throw new SbxError('usage', `${word.slice(0, equals)} takes no value`);
    }
    return false;
  }
  for (let i = 1; i < word.length; i++) {
    const flag = short.get(word[i] ?? '');
    if (flag === undefined) return false;
    if (flag.takesValue) return i === word.length - 1;
  }
  return false;
}
