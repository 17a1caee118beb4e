/** Under which names a server answers: a page in a browser whose name was bound to loopback must not get in. */
import { expect, test } from 'vitest';
import type { Api } from './api.ts';
import { configured, type Harness } from './harness.ts';
import { type Answer, jsonOf, keyOf } from './server.ts';
import { refusedTerminal } from './terminal-socket.ts';

export function hostsTopic(h: Harness): void {
  const port = (api: Api) => new URL(api.server().url).port;
  const as = (host: string, api: Api = h, path: `/${string}` = '/sandboxes'): Promise<Answer> =>
    api.ask(`GET ${path}`, { headers: { ...keyOf(api.server()), host } });

  test.each(['127.0.0.1', 'localhost', 'LocalHost', '[::1]'])('%s is taken', async (name) => {
    expect((await as(name)).status).toBe(200);
    expect((await as(`${name}:${port(h)}`)).status).toBe(200);
  });

  test.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example:80',
    'notlocalhost',
    '127.0.0.2',
  ])('%s is not', async (name) => {
    expect(jsonOf(await as(name), 403)).toStrictEqual({ error: 'host not allowed' });
  });

  test('the guard comes before the key and before the open pages', async () => {
    for (const path of ['/', '/healthz', '/info', '/sandboxes'] as const) {
      const answer = await h.ask(`GET ${path}`, { headers: { host: 'evil.example' } });
      expect(answer.status).toBe(403);
      expect(answer.headers['www-authenticate']).toBeUndefined();
    }
  });

  test('a terminal is guarded, too', async () => {
    const { id } = await h.shared();
    const headers = { ...keyOf(h.server()), host: 'evil.example' };
    expect(await refusedTerminal(h.server(), id, { headers })).toBe(403);
  });

  test('a name that is no host is refused', async () => {
    expect((await as('a b')).status).toBe(h.strict ? 400 : 500);
  });

  test('names that were allowed are taken, in any letters', () =>
    h.another(configured, async (api) => {
      for (const name of ['box.example', 'BOX.EXAMPLE:8080', 'other.example', 'localhost'])
        expect((await as(name, api)).status).toBe(200);
      for (const name of ['example', 'x.box.example']) expect((await as(name, api)).status).toBe(403);
    }));

  test('a server that everybody can reach has no guard, but its key', () =>
    h.another({ host: '0.0.0.0' }, async (api) => {
      expect((await as('evil.example', api)).status).toBe(200);
      expect((await api.ask('GET /sandboxes', { headers: { host: 'evil.example' } })).status).toBe(401);
    }));
}
