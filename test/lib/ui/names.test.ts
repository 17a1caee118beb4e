import { expect, test } from 'vitest';
import { countOf } from '../../../src/lib/ui/names.ts';

test.each([
  [['a'], "sandbox 'a'"],
  [['a', 'b'], "2 sandboxes ('a', 'b')"],
  [[...'abcdefgh'], "8 sandboxes ('a', 'b', 'c', 'd', 'e' and 3 more)"],
  [['\u001b[2J'], "sandbox '\\e[2J'"],
])('%j', (names, text) => expect(countOf(names, 'sandbox', 'sandboxes')).toBe(text));
