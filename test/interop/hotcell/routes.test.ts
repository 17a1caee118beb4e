/** The table of routes is the one that is written down. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { routes } from './routes.ts';

test('docs/protocol.md has these routes, in this order, with the same marks', () => {
  const page = readFileSync(new URL('../../../docs/protocol.md', import.meta.url), 'utf8');
  const [, table = ''] = /\n### Routes\n([^#]*)/.exec(page) ?? [];
  const rows = [...table.matchAll(/^\| (GET|POST|DELETE) \| `(\/[^`]*)` \|(.*)$/gm)];
  expect(
    rows.map(([, method, path, rest]) => `${method} ${path}${rest?.includes('**live**') ? ' live' : ''}`),
  ).toEqual(routes.map(({ method, path, live }) => `${method} ${path}${live ? ' live' : ''}`));
});
