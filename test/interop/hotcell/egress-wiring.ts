/** Sandboxes whose programs find the egress gateway by themselves. */
import { expect, test } from 'vitest';
import type { Api } from './api.ts';
import { configured, type Harness } from './harness.ts';
import { type Info, recordShape, type SandboxRecord, type Tokens } from './shapes.ts';

export function egressWiringTopic(h: Harness): void {
  const tokensOf = (api: Api, id: string) => api.answer<Tokens>(200, `GET /sandboxes/${id}/egress-tokens`);

  /** The one token of a sandbox, and the variables that lead to the gateway with it. */
  const wired = async (api: Api, id: string) => {
    const { tokens, providers } = await tokensOf(api, id);
    expect(tokens).toHaveLength(1);
    const token = String(tokens[0]?.token);
    const env = Object.fromEntries(
      providers.flatMap(({ baseUrl, baseUrlEnv, keyEnv }) => [
        [baseUrlEnv, baseUrl],
        [keyEnv, token],
      ]),
    );
    return { token, env, entry: tokens[0] };
  };

  test('egress: true gives one token and the variables of all providers', async () => {
    const record = await h.sandbox({ egress: true, env: { MINE: 'kept' } });
    const { token, env, entry } = await wired(h, record.id);
    expect(entry).toStrictEqual({ token, policy: {}, spendUsd: 0, spendRemaining: null });
    expect(record).toStrictEqual(recordShape({ env: { MINE: 'kept', ...env } }));
    expect(Object.keys(env)).toContain('OPENAI_BASE_URL');
    expect(await h.say(record.id, 'echo $OPENAI_API_KEY $OPENAI_BASE_URL $MINE')).toBe(
      `${token} ${env.OPENAI_BASE_URL} kept`,
    );
  });

  test('a policy is that of the token', async () => {
    const { id } = await h.sandbox({ egress: { spendCapUsd: 3, providers: ['openai'] } });
    const { entry } = await wired(h, id);
    expect(entry).toMatchObject({
      policy: { spendCapUsd: 3, providers: ['openai'] },
      spendUsd: 0,
      spendRemaining: 3,
    });
    expect((await wired(h, (await h.sandbox({ egress: {} })).id)).entry).toMatchObject({ policy: {} });
  });

  test('its variables go before those that were asked for', async () => {
    const record = await h.sandbox({ egress: true, env: { OPENAI_API_KEY: 'of my own' } });
    expect(record.env.OPENAI_API_KEY).toBe((await wired(h, record.id)).token);
  });

  test.each([{}, { egress: false }, { egress: null }])('%j gives none', async (asked) => {
    const record = await h.sandbox(asked);
    expect(record).toStrictEqual(recordShape());
    expect((await tokensOf(h, record.id)).tokens).toStrictEqual([]);
  });

  test('no key of a provider is told', async () => {
    const { id } = await h.sandbox({ egress: true });
    const told = JSON.stringify([
      await h.record(id),
      await tokensOf(h, id),
      await h.answer(200, 'GET /info'),
    ]);
    expect(told).not.toMatch(/sk-[A-Za-z0-9]/);
  });

  test('where all traffic is enforced to go through it, every sandbox has it as its proxy', () =>
    h.another(configured, async (api) => {
      const { egressPort } = await api.answer<Info>(200, 'GET /info');
      const create = (body: unknown) => api.answer<SandboxRecord>(201, 'POST /sandboxes', body);
      /** What was told of the gateway in `env`, given its token. */
      const proxied = (env: SandboxRecord['env'], token: string) => {
        const proxy = new RegExp(`^http://${token}:${token}@([^:/@]+):${egressPort}$`);
        const host = proxy.exec(String(env.HTTP_PROXY))?.[1];
        expect(env.HTTP_PROXY).toMatch(proxy);
        for (const name of ['HTTPS_PROXY', 'http_proxy', 'https_proxy'])
          expect(env[name]).toBe(env.HTTP_PROXY);
        expect([env.NO_PROXY, env.no_proxy]).toEqual(Array(2).fill(`localhost,127.0.0.1,${host}`));
        return ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'NO_PROXY', 'no_proxy'];
      };

      const plain = await create({ env: { MINE: 'kept' } });
      const { token, entry } = await wired(api, plain.id);
      expect(entry).toMatchObject({ policy: {} });
      const names = proxied(plain.env, token);
      expect(Object.keys(plain.env).sort()).toEqual(['MINE', ...names].sort());

      // One token for both.
      const both = await create({ egress: { spendCapUsd: 1 } });
      const second = await wired(api, both.id);
      expect(second.entry).toMatchObject({ policy: { spendCapUsd: 1 } });
      proxied(both.env, second.token);
      expect(both.env).toMatchObject(second.env);
      expect(Object.keys(both.env).sort()).toEqual([...names, ...Object.keys(second.env)].sort());
    }));
}
