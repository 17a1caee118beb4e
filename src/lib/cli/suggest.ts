/** Help for mistyped words. Loaded only after a mistake. */
import type { CommandClass } from './command-class.ts';

/** The candidate that differs least from `word`, if it is close enough to be meant. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

/** Single-letter changes, swaps of neighbours included, from one word to the other. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** How a command is typed, in one line: `sbx exec [FLAGS] [SANDBOX] [--] CMD…`. */
export function usageLine(id: string, Class: Pick<CommandClass, UsageStatics>): string {
  return ['sbx', ...id.split(':'), '[FLAGS]', Class.usage ?? argumentWords(Class)].join(' ').trimEnd();
}

type UsageStatics = 'usage' | 'args' | 'commandNeedsDashes' | 'strictCommandArgument';

function argumentWords({
  args,
  commandNeedsDashes,
  strictCommandArgument,
}: Pick<CommandClass, UsageStatics>) {
  const words = Object.entries(args ?? {}).map(([name, { required, multiple }]) => {
    const word = `${name.toUpperCase()}${multiple ? '…' : ''}`;
    return required ? word : `[${word}]`;
  });
  if (commandNeedsDashes) words.push('[-- CMD…]');
  else if (strictCommandArgument !== undefined) words.push('[--] CMD…');
  return words.join(' ');
}
