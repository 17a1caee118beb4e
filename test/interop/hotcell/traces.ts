/** What the server did lately. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import type { Token } from './shapes.ts';
import { openTerminal } from './terminal-socket.ts';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly startTime: number;
  readonly endTime: number;
  readonly status: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

export function tracesTopic(h: Harness): void {
  const spans = async (query = '') => (await h.answer<{ spans: Span[] }>(200, `GET /traces${query}`)).spans;
  const last = async () => (await spans('?limit=1'))[0];

  test('each request leaves a span', async () => {
    const before = Date.now();
    const { id } = await h.sandbox();
    const span = await last();
    expect(span).toStrictEqual({
      name: 'POST /sandboxes',
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      startTime: expect.any(Number),
      endTime: expect.any(Number),
      status: 'ok',
      attributes: { 'http.method': 'POST', 'http.target': '/sandboxes', 'http.status_code': 201 },
    });
    expect(span?.startTime).toBeGreaterThanOrEqual(before);
    expect(span?.endTime).toBeGreaterThanOrEqual(Number(span?.startTime));
    await h.record(id);
    expect(await last()).toMatchObject({
      name: 'GET /sandboxes/:id',
      attributes: { 'http.target': `/sandboxes/${id}` },
    });
  });

  test('names have no ids in them', async () => {
    const { id } = await h.shared();
    for (const [target, name] of [
      [`DELETE /sandboxes/${id}/processes/p1`, 'DELETE /sandboxes/:id/processes/:sub'],
      [`GET /sandboxes/${id}/processes/p1/logs`, 'GET /sandboxes/:id/processes/:sub/logs'],
      [`POST /sandboxes/${id}/sessions/s1/env`, 'POST /sandboxes/:id/sessions/:sub/env'],
      [`DELETE /sandboxes/${id}/code-contexts/c1`, 'DELETE /sandboxes/:id/code-contexts/:sub'],
      [`DELETE /sandboxes/${id}/expose/8080`, 'DELETE /sandboxes/:id/expose/:sub'],
      ['DELETE /backups/bk1', 'DELETE /backups/:sub'],
    ] as const) {
      expect((await h.ask(target)).status).toBe(404);
      expect(await last()).toMatchObject({ name, attributes: { 'http.status_code': 404 } });
    }
  });

  test('a terminal leaves one when it closes', async () => {
    const { id } = await h.sandbox();
    await (await openTerminal(h.server(), id)).close();
    const ofTerminals = async () =>
      (await spans()).filter(({ attributes }) => attributes['sandbox.id'] === id).map(({ name }) => name);
    await expect.poll(ofTerminals).toEqual(['WS /sandboxes/:id/terminal']);
  });

  test('the newest comes first, and no more than asked for', async () => {
    for (let round = 0; round < 105; round++) await h.answer(200, 'GET /healthz');
    await h.answer(200, 'GET /info');
    const three = await spans('?limit=3');
    expect(three.map(({ name }) => name)).toEqual(['GET /info', 'GET /healthz', 'GET /healthz']);
    expect(await spans()).toHaveLength(100);
    expect((await spans('?limit=102')).length).toBe(102);
  });

  test('neither queries nor keys are told', async () => {
    await h.ask('GET /info?word=from-the-query');
    await h.ask('GET /sandboxes', { headers: { 'x-api-key': 'key-in-a-header' } });
    const told = JSON.stringify(await spans('?limit=500'));
    for (const secret of ['from-the-query', 'key-in-a-header', h.server().key])
      expect(told).not.toContain(secret);
  });

  test('what was refused is told, too', async () => {
    await h.ask('GET /sandboxes', { headers: {} });
    expect(await last()).toMatchObject({ status: 'ok', attributes: { 'http.status_code': 401 } });
  });

  if (h.strict) {
    test('tokens are not told', async () => {
      const { id } = await h.shared();
      const { token } = await h.answer<Token>(201, `POST /sandboxes/${id}/egress-tokens`);
      await h.answer(200, `DELETE /sandboxes/${id}/egress-tokens/${token}`);
      expect(await last()).toMatchObject({ name: 'DELETE /sandboxes/:id/egress-tokens/:sub' });
      expect(JSON.stringify(await spans())).not.toContain(token);
    });

    test.each(['-1', '0', 'x', '1.5'])('the limit %s is refused', async (limit) => {
      await h.refusal(400, `GET /traces?limit=${limit}`);
    });
  }
}
