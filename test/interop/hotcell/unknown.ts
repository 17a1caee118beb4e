/** Paths, methods and sandboxes that there are not. */
import { expect, test } from 'vitest';
import type { Target } from './api.ts';
import type { Harness } from './harness.ts';
import { type Route, sandboxRoutes, targetOf } from './routes.ts';
import { refusedTerminal } from './terminal-socket.ts';

export function unknownTopic(h: Harness): void {
  const nowhere: readonly Target[] = [
    'GET /no-such-path',
    'GET /sandboxes/',
    'GET /sandboxes/x/y/z',
    'PUT /sandboxes',
    'PATCH /sandboxes',
    'DELETE /sandboxes',
    'POST /healthz',
    'POST /info',
    'POST /',
    'POST /capacity',
    'POST /traces',
    'POST /backups',
    'GET /backups/x',
    'DELETE /healthz',
    'OPTIONS /sandboxes',
  ];
  test.each(nowhere)('%s', async (target) => {
    expect(await h.refusal(404, target)).toBe(`no route for ${target}`);
  });

  test('what is told of a path leaves its query out', async () => {
    expect(await h.refusal(404, 'GET /no-such-path?key=secret')).toBe('no route for GET /no-such-path');
  });

  test('HEAD is no route, and its answer has no body', async () => {
    expect(await h.ask('HEAD /sandboxes')).toMatchObject({ status: 404, text: '' });
  });

  const ofSandbox: readonly (readonly [method: string, rest: string])[] = [
    ['PUT', ''],
    ['POST', ''],
    ['GET', '/no-such-thing'],
    ['GET', '/exec'],
    ['GET', '/stop'],
    ['GET', '/start'],
    ['GET', '/pause'],
    ['PUT', '/env'],
    ['PUT', '/sessions'],
    ['GET', '/sessions/s'],
    ['GET', '/sessions/s/env'],
    ['GET', '/files/read'],
    ['POST', '/files/remove'],
    ['POST', '/watch'],
    ['PUT', '/processes'],
    ['GET', '/processes/p'],
    ['POST', '/processes/p/logs'],
    ['GET', '/wait-port'],
    ['PUT', '/expose'],
    ['GET', '/expose/80'],
    ['DELETE', '/expose/port'],
    ['POST', '/terminal'],
    ['PUT', '/backups'],
    ['GET', '/restore'],
    ['PUT', '/code-contexts'],
    ['GET', '/code-contexts/c'],
    ['GET', '/run-code'],
    ['PUT', '/egress-tokens'],
    ['GET', '/egress-tokens/t'],
    ['POST', '/metrics'],
    ['POST', '/metrics/history'],
  ];
  test.each(ofSandbox)('%s of a sandbox%s', async (method, rest) => {
    const target = `${method} /sandboxes/${(await h.shared()).id}${rest}` as Target;
    expect(await h.refusal(404, target)).toBe(`no route for ${target}`);
  });

  test.each(sandboxRoutes.map((route): [string, Route] => [`${route.method} ${route.path}`, route]))(
    '%s of no sandbox',
    async (_, route) => {
      const text = await h.refusal(404, targetOf(route, 'no-such-sandbox'));
      expect(text).toBe(route.missing ?? 'not found');
    },
  );

  test('a terminal of no sandbox', async () => {
    expect(await refusedTerminal(h.server(), 'no-such-sandbox')).toBe(404);
  });

  test('an upgrade elsewhere is not granted', async () => {
    const { id } = await h.shared();
    const statuses = [`/sandboxes/${id}`, `/sandboxes/${id}/terminal/x`, '/terminal', '/'].map((path) =>
      refusedTerminal(h.server(), id, { path }),
    );
    // The seed hangs up without a word.
    for (const status of await Promise.all(statuses)) expect([404, 'hung up']).toContain(status);
  });

  test('odd paths are answers, too', async () => {
    for (const path of ['%2e%2e', '%2e%2e/healthz', 'a%00b', '%', '..%2f..', 'x'.repeat(5000)])
      expect((await h.ask(`GET /sandboxes/${path}`)).status).toBeLessThan(500);
    if (h.strict)
      for (const path of ['/', '//x'] as const)
        expect((await h.ask(`GET /${path}`)).status).toBeLessThan(500);
  });
}
