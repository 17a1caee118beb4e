/** What can be typed that stands in the manifest: verbs, flags and the values that a flag is limited to. Pure. */
import type { Choices, FlagChoice } from './facts.ts';
import type { Situation } from './situation.ts';

/** One thing that can stand at the cursor. */
export interface Candidate {
  /** The whole word. May come from a sandbox: hostile until it is quoted. */
  readonly value: string;
  readonly description?: string | undefined;
  /** Whether the word goes on behind it, as a folder does; no space follows then. */
  readonly goesOn?: boolean;
}

/** Verbs and topics below the path so far; other names for them only where one has been begun. */
export function verbsAt({ path, word, isHelp }: Situation, choices: Choices): Candidate[] {
  const depth = path.length;
  const isBelow = (words: readonly string[]) =>
    words.length > depth && path.every((each, index) => words[index] === each);
  const found = new Map<string, string | undefined>();
  for (const { id, summary, hidden } of choices.commands) {
    const words = id.split(':');
    if (hidden || !isBelow(words)) continue;
    const verb = words[depth] ?? '';
    if (words.length === depth + 1) found.set(verb, summary);
    else if (!found.has(verb)) found.set(verb, depth === 0 ? choices.topics[verb] : undefined);
  }
  for (const [alias, id] of Object.entries(choices.aliases)) {
    const words = alias.split(':');
    const verb = words[depth] ?? '';
    if (isBelow(words) && words.length === depth + 1 && word !== '' && verb.startsWith(word))
      found.set(verb, `the same as ${id.replaceAll(':', ' ')}`);
  }
  if (depth === 0 && !isHelp) found.set('help', 'what there is, and how it is used');
  return [...found].map(([value, description]) => ({ value, description }));
}

/** The flags that can still be given. Letters are shown to who has typed no more than a dash. */
export function flagsAt({ known, flags, word, command }: Situation): Candidate[] {
  const found: Candidate[] = [];
  const isExcluded = ({ exclusive = [] }: FlagChoice) => exclusive.some((other) => flags.has(other));
  for (const [name, flag] of Object.entries(known)) {
    const { char, summary: description, hidden, multiple, allowNo } = flag;
    if (hidden || isExcluded(flag) || (flags.has(name) && !multiple)) continue;
    if (char !== undefined && word === '-') found.push({ value: `-${char}`, description });
    found.push({ value: `--${name}`, description });
    if (allowNo && word.startsWith('--n'))
      found.push({ value: `--no-${name}`, description: `not: ${description}` });
  }
  found.push({ value: '--help', description: 'show help' });
  if (command === undefined) found.push({ value: '--version', description: 'print the version' });
  return found;
}
