/** Names in a sentence. Pure. */
import { visible } from './text.ts';

const SHOWN = 5;

/** How many and which: `snapshot 'a'`, `3 snapshots ('a', 'b', 'c')`, `9 snapshots ('a', 'b', 'c', 'd', 'e' and 4 more)`. */
export function countOf(names: readonly string[], one: string, many = `${one}s`): string {
  const quoted = names.map((name) => `'${visible(name)}'`);
  if (quoted.length === 1) return `${one} ${quoted[0]}`;
  const rest = quoted.length - SHOWN;
  return `${quoted.length} ${many} (${quoted.slice(0, SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''})`;
}
