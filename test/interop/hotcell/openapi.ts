/** What a server says of its own routes. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import { faultsOf, routesOf } from './openapi-document.ts';
import { routes } from './routes.ts';
import { type HotcellServer, jsonOf, send } from './server.ts';

/** Fetches the description and holds it to the table of routes and `more`, each as `GET /path/:param`. */
export async function checkOpenApi(server: HotcellServer, more: readonly string[]): Promise<void> {
  const document = jsonOf(await send(server, { method: 'GET', path: '/openapi.json' }), 200);
  expect(faultsOf(document)).toEqual([]);
  const wanted = [...routes.map(({ method, path }) => `${method} ${path}`), ...more];
  expect(routesOf(document)).toEqual(wanted.map(withoutNames).sort());
}

/** Parameters may have other names there. */
function withoutNames(route: string): string {
  return route.replace(/:\w+/g, '{}');
}

export function openApiTopic(h: Harness): void {
  h.when(h.openapi !== undefined)('describes exactly the routes that there are', async () => {
    await checkOpenApi(h.server(), h.openapi?.more ?? []);
  });

  if (h.openapi === undefined)
    test('there is none', async () => {
      expect(await h.refusal(404, 'GET /openapi.json')).toBe('no route for GET /openapi.json');
    });
}
