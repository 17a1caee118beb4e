/** Tokens of the egress gateway, which stand in for the keys of providers. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import { type Info, providerShape, type Token, type Tokens } from './shapes.ts';

export function egressTokensTopic(h: Harness): void {
  const grant = (id: string, body?: unknown) =>
    h.answer<Token>(201, `POST /sandboxes/${id}/egress-tokens`, body);
  const list = (id: string) => h.answer<Tokens>(200, `GET /sandboxes/${id}/egress-tokens`);
  const revoke = (id: string, token: string) =>
    h.answer(200, `DELETE /sandboxes/${id}/egress-tokens/${token}`);
  // It stands in URLs as user and as password.
  const tokenShape = expect.stringMatching(/^[A-Za-z0-9_-]{8,}$/);

  test('a new one comes with what it may do and where to', async () => {
    const { egressProviders, egressPort } = await h.answer<Info>(200, 'GET /info');
    const { id } = await h.sandbox();
    const granted = await grant(id, { spendCapUsd: 2 });
    expect(granted).toStrictEqual({
      token: tokenShape,
      policy: { spendCapUsd: 2 },
      providers: egressProviders.map(() => providerShape),
    });
    expect(granted.providers.map(({ name }) => name)).toEqual(egressProviders);
    for (const { name, baseUrl } of granted.providers)
      expect(baseUrl).toMatch(new RegExp(`^https?://[^/]+:${egressPort}/${name}$`));
    expect((await list(id)).providers).toStrictEqual(granted.providers);
  });

  test('each provider has the variables that its SDK reads', async () => {
    const { providers } = await list((await h.shared()).id);
    const known = ['openai', 'anthropic', 'openrouter', 'google', 'gemini'];
    expect(providers.filter(({ name }) => known.includes(name))).not.toEqual([]);
    for (const { name, baseUrlEnv, keyEnv } of providers) {
      const word = name.toUpperCase().replace(/[^A-Z0-9]/g, '_');
      expect([baseUrlEnv, keyEnv]).toEqual([`${word}_BASE_URL`, `${word}_API_KEY`]);
    }
  });

  test('the list tells what was spent and what is left', async () => {
    const { id } = await h.sandbox();
    expect((await list(id)).tokens).toStrictEqual([]);
    const capped = await grant(id, { spendCapUsd: 1.5, models: ['one'] });
    const broke = await grant(id, { spendCapUsd: 0 });
    const free = await grant(id);
    expect((await list(id)).tokens).toStrictEqual([
      {
        token: capped.token,
        policy: { spendCapUsd: 1.5, models: ['one'] },
        spendUsd: 0,
        spendRemaining: 1.5,
      },
      { token: broke.token, policy: { spendCapUsd: 0 }, spendUsd: 0, spendRemaining: 0 },
      { token: free.token, policy: {}, spendUsd: 0, spendRemaining: null },
    ]);
  });

  test('no two are alike, and each belongs to its sandbox', async () => {
    const { id } = await h.sandbox();
    const other = await h.sandbox();
    const made = await Promise.all([grant(id), grant(id), grant(other.id)]);
    expect(new Set(made.map(({ token }) => token)).size).toBe(3);
    expect((await list(other.id)).tokens.map(({ token }) => token)).toEqual([made[2]?.token]);
  });

  test('one that is revoked is gone', async () => {
    const { id } = await h.sandbox();
    const { token } = await grant(id);
    const { token: stays } = await grant(id);
    expect(await revoke(id, token)).toStrictEqual({ token, revoked: true });
    expect((await list(id)).tokens.map((each) => each.token)).toEqual([stays]);
    expect(await h.refusal(404, `DELETE /sandboxes/${id}/egress-tokens/${token}`)).toBe('token not found');
    expect(await h.refusal(404, `DELETE /sandboxes/${id}/egress-tokens/no-such`)).toBe('token not found');
  });

  test('they can be had of a stopped sandbox', async () => {
    const { id } = await h.sandbox();
    await h.answer(200, `POST /sandboxes/${id}/stop`);
    const { token } = await grant(id);
    expect((await list(id)).tokens).toMatchObject([{ token }]);
    await revoke(id, token);
  });

  if (h.strict) {
    test('one cannot be revoked through another sandbox', async () => {
      const { id } = await h.sandbox();
      const { token } = await grant(id);
      const through = `DELETE /sandboxes/${(await h.sandbox()).id}/egress-tokens/${token}` as const;
      expect(await h.refusal(404, through)).toBe('token not found');
      expect((await list(id)).tokens).toMatchObject([{ token }]);
    });

    test('one cannot be guessed: 128 bits at least', async () => {
      const { token } = await grant((await h.shared()).id);
      expect(token.replace(/^.*_/, '')).toMatch(/^([0-9a-f]{32,}|[A-Za-z0-9_-]{22,})$/);
    });
  }
}
