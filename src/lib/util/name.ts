/** Names of sandboxes and snapshots: which are allowed, how one is made up, which is near to another. Pure. */

/** Longest allowed name, in characters. */
export const NAME_LIMIT = 63;

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

/** Whether `name` may be the name of a sandbox or snapshot. */
export function isName(name: string): boolean {
  return name.length <= NAME_LIMIT && NAME.test(name);
}

const ADJECTIVES = (
  'able airy amber bold brave brisk calm clean clear cosy crisp deep deft eager early even fair fast fine firm fond ' +
  'free fresh glad gold grand green happy jolly keen kind light live loyal lucky merry mild neat nimble plain proud ' +
  'quick quiet rapid ready round safe sharp shiny silver smart snug solid spry still sunny sure swift tidy true vivid ' +
  'warm wise witty young'
).split(' ');

const NOUNS = (
  'acorn anchor apple arrow badger bay beach beacon bear birch bird bridge brook cedar cliff cloud comet coral crane ' +
  'creek daisy dune eagle elm ember falcon fern finch fjord flint forest fox garden glade grove harbor hare hawk heron ' +
  'hill island ivy lake lark leaf lily lynx maple marsh meadow moon moss oak orchid otter owl pearl pebble pine planet ' +
  'plum pond quail rain raven reef ridge river robin rose sail seal shore sky sparrow spruce star stone swan tide trail ' +
  'tulip valley wave willow wren'
).split(' ');

const SUFFIX_CHARACTERS = 'abcdefghijkmnpqrstuvwxyz23456789';

/** A readable name that is probably free: `adjective-noun-xx`, one of some seven million. `random` gives numbers from 0 to below 1. */
export function randomName(random: () => number = Math.random): string {
  const pick = <T>(from: ArrayLike<T>): T => from[Math.floor(random() * from.length)] as T;
  return `${pick(ADJECTIVES)}-${pick(NOUNS)}-${pick(SUFFIX_CHARACTERS)}${pick(SUFFIX_CHARACTERS)}`;
}

/** Those of `names` that somebody who typed `typed` may have meant, the nearest first; at most three. */
export function nearNames(typed: string, names: Iterable<string>): string[] {
  const wanted = typed.toLowerCase();
  const most = Math.max(1, Math.floor(wanted.length / 3));
  const near: { name: string; distance: number }[] = [];
  for (const name of names) {
    const other = name.toLowerCase();
    const starts = wanted.length >= 2 && other.startsWith(wanted);
    const distance = starts ? 0.5 : editDistance(wanted, other, most);
    if (distance <= most) near.push({ name, distance });
  }
  near.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  return near.slice(0, 3).map((each) => each.name);
}

/** Insertions, deletions, replacements and swaps of neighbours between two words; `most + 1` when there are more. */
function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let best = Math.min(at(previous, j) + 1, at(row, j - 1) + 1, at(previous, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, at(before, j - 2) + 1);
      row.push(best);
    }
    before = previous;
    previous = row;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
