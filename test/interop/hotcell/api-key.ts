/** Who may ask. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import { plainRoutes, type Route, targetOf } from './routes.ts';
import { jsonOf } from './server.ts';

export function apiKeyTopic(h: Harness): void {
  const closed = plainRoutes.filter(({ open }) => open === undefined);
  const titled = (routes: readonly Route[]) =>
    routes.map((route): [string, Route] => [`${route.method} ${route.path}`, route]);

  test.each(titled(closed))('%s is refused without a key', async (_, route) => {
    const { id } = await h.shared();
    const answer = await h.ask(targetOf(route, id), { headers: {} });
    expect(jsonOf(answer, 401)).toStrictEqual({ error: 'missing or invalid API key' });
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  test.each(titled(plainRoutes.filter(({ open }) => open)))('%s is open', async (_, route) => {
    expect((await h.ask(targetOf(route, ''), { headers: {} })).status).toBe(200);
  });

  test('a path that there is not tells nothing without a key either', async () => {
    expect((await h.ask('GET /no-such-path', { headers: {} })).status).toBe(401);
  });

  const key = () => h.server().key;
  test.each([
    ['Authorization: Bearer', () => ({ authorization: `Bearer ${key()}` })],
    ['X-API-Key', () => ({ 'x-api-key': key() })],
    ['X-API-Key beside another scheme', () => ({ authorization: 'Basic eDp5', 'x-api-key': key() })],
  ])('the key as %s', async (_, headers) => {
    expect((await h.ask('GET /sandboxes', { headers: headers() })).status).toBe(200);
  });

  test.each([
    ['another', () => ({ authorization: 'Bearer another' })],
    ['another as X-API-Key', () => ({ 'x-api-key': 'another' })],
    ['an empty one', () => ({ authorization: 'Bearer ' })],
    ['one that is longer', () => ({ authorization: `Bearer ${key()}x` })],
    ['one that is shorter', () => ({ authorization: `Bearer ${key().slice(0, -1)}` })],
    ['one in other letters', () => ({ authorization: `Bearer ${key().toUpperCase()}` })],
    ['the key alone', () => ({ authorization: key() })],
    ['the key as Basic', () => ({ authorization: `Basic ${key()}` })],
    ['a wrong Bearer beside a right X-API-Key', () => ({ authorization: 'Bearer no', 'x-api-key': key() })],
  ])('no entry with %s', async (_, headers) => {
    expect((await h.ask('GET /sandboxes', { headers: headers() })).status).toBe(401);
  });

  test('the key in the query counts for terminals alone', async () => {
    expect((await h.ask(`GET /sandboxes?key=${key()}`, { headers: {} })).status).toBe(401);
  });

  test('without a key all are let in, and info says so', () =>
    h.another({ key: '' }, async (api) => {
      expect(await api.answer(200, 'GET /sandboxes')).toStrictEqual({ sandboxes: [] });
      expect(await api.answer(200, 'GET /info')).toMatchObject({ auth: false });
      expect((await api.ask('GET /sandboxes', { headers: { authorization: 'Bearer any' } })).status).toBe(
        200,
      );
    }));
}
