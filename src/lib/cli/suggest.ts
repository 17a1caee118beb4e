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

/** A command in one line: `sbx exec [SANDBOX] [flags] CMD…`. */
export function usageLine(id: string, Class: CommandClass): string {
  const usage = typeof Class.usage === 'string' ? Class.usage : Class.usage?.[0];
  const verb = id.replaceAll(':', ' ');
  if (usage !== undefined) return `sbx ${usage.replaceAll('<%= command.id %>', verb)}`;
  const args = Object.entries(Class.args ?? {}).map(([name, arg]) => {
    const word = name.toUpperCase() + (arg.multiple ? '…' : '');
    return arg.required ? word : `[${word}]`;
  });
  const inner = Class.commandNeedsDashes
    ? ['[-- CMD…]']
    : Class.strictCommandArgument === undefined
      ? []
      : ['CMD…'];
  return ['sbx', verb, '[flags]', ...args, ...inner].join(' ');
}
