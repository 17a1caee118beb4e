/** Ports with a preview URL. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import { type Info, moment } from './shapes.ts';

export function exposeTopic(h: Harness): void {
  const expose = (id: string, body: unknown) => h.answer(201, `POST /sandboxes/${id}/expose`, body);
  const list = (id: string) => h.answer(200, `GET /sandboxes/${id}/expose`);

  test('a port gets a name and a URL of its own', async () => {
    const { proxyPort } = await h.answer<Info>(200, 'GET /info');
    const { id } = await h.sandbox();
    expect(await list(id)).toStrictEqual({ exposed: [] });
    const exposed = await expose(id, { port: 8080 });
    expect(exposed).toStrictEqual({
      port: 8080,
      exposeId: `${id}-8080`,
      token: null,
      createdAt: moment,
      url: expect.stringMatching(new RegExp(`^https?://${id}-8080\\.[a-z0-9.-]+:${proxyPort}$`)),
    });
    expect(await list(id)).toStrictEqual({ exposed: [exposed] });
  });

  test('a token is kept', async () => {
    const { id } = await h.sandbox();
    expect(await expose(id, { port: 3000, token: 'secret' })).toMatchObject({ port: 3000, token: 'secret' });
  });

  test('several ports; one that is exposed again is replaced', async () => {
    const { id } = await h.sandbox();
    await expose(id, { port: 3000 });
    const other = await expose(id, { port: 4000 });
    const again = await expose(id, { port: 3000, token: 'new' });
    expect(await list(id)).toStrictEqual({ exposed: [again, other] });
  });

  test('one that is taken back is gone', async () => {
    const { id } = await h.sandbox();
    await expose(id, { port: 3000 });
    expect(await h.answer(200, `DELETE /sandboxes/${id}/expose/3000`)).toStrictEqual({ ok: true });
    expect(await list(id)).toStrictEqual({ exposed: [] });
    expect(await h.refusal(404, `DELETE /sandboxes/${id}/expose/3000`)).toBe('port not exposed');
  });

  test.each([{}, { port: 0 }, { port: -80 }, { port: 1.5 }, { port: 'http' }, { port: null }])(
    '%j is refused',
    async (body) => {
      const { id } = await h.shared();
      expect(await h.refusal(400, `POST /sandboxes/${id}/expose`, body)).toBe('port is required');
    },
  );

  if (h.strict)
    test.each([{ port: 70_000 }, { port: '80' }, { port: 80, token: 5 }, { port: 80, token: '' }])(
      '%j is refused',
      async (body) => {
        await h.refusal(400, `POST /sandboxes/${(await h.shared()).id}/expose`, body);
      },
    );
}
