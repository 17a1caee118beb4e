/** Choosing one of a list: moving through it, and which part of it stands on the screen. Pure. */
import type { Key } from './keys.ts';

/** Lines that a page is. */
const PAGE = 10;

/**
 * Where the choice is after a key; undefined when the key is not about moving. It stays inside the list.
 * @param letters whether j and k move, where they mean nothing else.
 */
export function moved(at: number, count: number, key: Key, letters = false): number | undefined {
  const step = stepOf(key, count, letters);
  return step === undefined ? undefined : Math.max(0, Math.min(count - 1, at + step));
}

function stepOf(key: Key, count: number, letters: boolean): number | undefined {
  if ('text' in key) {
    if (!letters) return undefined;
    return { j: 1, k: -1, g: -count, G: count }[key.text];
  }
  switch (key.name) {
    case 'up':
    case 'ctrl-p':
      return -1;
    case 'down':
    case 'ctrl-n':
      return 1;
    case 'page-up':
      return -PAGE;
    case 'page-down':
      return PAGE;
    case 'home':
      return -count;
    case 'end':
      return count;
    default:
      return undefined;
  }
}

/** The first line shown, so that the chosen one is seen, in the middle where there is room. */
export function firstShown(at: number, count: number, rows: number): number {
  return Math.max(0, Math.min(at - Math.floor(rows / 2), count - rows));
}

/** The list without what does not hold the words of the filter, whatever their case. */
export function filtered<Item>(items: readonly Item[], filter: string, text: (item: Item) => string): Item[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  return items.filter((item) => {
    const all = text(item).toLowerCase();
    return words.every((word) => all.includes(word));
  });
}
