/** What a token of the egress gateway may be limited to, and what is no policy. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import type { SandboxRecord, Token } from './shapes.ts';

type Refusal = readonly [policy: string, error: string];

/** For values that are not in JavaScript, such as 1e999, the policies are JSON text. */
const nonNegative = (field: string, error = `${field} must be a non-negative number`): Refusal[] =>
  ['-1', '-0.01', '"5"', 'null', 'true', '[]', '{}', '1e999'].map((value) => [
    `{"${field}":${value}}`,
    error,
  ]);

const rateLimits = (values: readonly string[], error: string): Refusal[] =>
  values.map((value) => [`{"rateLimit":${value}}`, error]);

const lists = (field: string): Refusal[] =>
  ['"x"', '5', 'null', '{}', '[1]', '["x",null]', 'true'].map((value) => [
    `{"${field}":${value}}`,
    `${field} must be an array of strings`,
  ]);

const refusals: readonly Refusal[] = [
  ...nonNegative('ttlMs'),
  ...nonNegative('spendCapUsd'),
  ['{"expiresAt":"tomorrow"}', 'expiresAt must be an ISO timestamp'],
  ['{"expiresAt":"2030-13-45T00:00:00Z"}', 'expiresAt must be an ISO timestamp'],
  ['{"ttlMs":1000,"expiresAt":"soon"}', 'expiresAt must be an ISO timestamp'],
  ...rateLimits(['5', '"x"', 'null', 'true'], 'rateLimit must be an object'),
  ...rateLimits(
    [
      '{}',
      '[]',
      '{"calls":1}',
      '{"windowMs":0}',
      '{"windowMs":-1}',
      '{"windowMs":"1"}',
      '{"windowMs":1e999}',
    ],
    'rateLimit.windowMs must be a positive number',
  ),
  ...rateLimits(
    ['-1', '"5"', 'null', '1e999', 'true'].map((value) => `{"windowMs":1,"calls":${value}}`),
    'rateLimit.calls must be a non-negative number',
  ),
  ...rateLimits(
    ['-1', '"5"', 'null', '1e999', 'true'].map((value) => `{"windowMs":1,"tokens":${value}}`),
    'rateLimit.tokens must be a non-negative number',
  ),
  ...lists('models'),
  ...lists('providers'),
];

export function egressPolicyTopic(h: Harness): void {
  const grant = async (body?: unknown) =>
    (await h.answer<Token>(201, `POST /sandboxes/${(await h.shared()).id}/egress-tokens`, body)).policy;

  const far = '2090-01-02T03:04:05.678Z';
  const kept = [
    { spendCapUsd: 0 },
    { spendCapUsd: 1.5 },
    { expiresAt: far },
    { rateLimit: { windowMs: 60_000 } },
    { rateLimit: { windowMs: 0.5, calls: 0 } },
    { rateLimit: { windowMs: 60_000, calls: 10, tokens: 1000 } },
    { models: ['one', 'two'] },
    { providers: ['openai'] },
    {
      expiresAt: far,
      spendCapUsd: 2,
      rateLimit: { windowMs: 1000, tokens: 5 },
      models: ['one'],
      providers: ['openai', 'anthropic'],
    },
  ];
  test.each(kept)('%j is kept as it is', async (policy) => {
    expect(await grant(policy)).toStrictEqual(policy);
  });

  test('without one anything goes', async () => {
    expect(await grant()).toStrictEqual({});
    expect(await grant({})).toStrictEqual({});
  });

  test.each([{ ttlMs: 0 }, { models: [] }, { providers: [] }, { expiresAt: '' }])(
    '%j limits nothing',
    async (policy) => {
      expect(await grant(policy)).toStrictEqual({});
    },
  );

  test('what nobody knows is not kept', async () => {
    const rateLimit = { windowMs: 1, calls: 2, other: 3 };
    expect(await grant({ other: 1, rateLimit })).toStrictEqual({ rateLimit: { windowMs: 1, calls: 2 } });
  });

  test('ttlMs is told as the moment of its end', async () => {
    const before = Date.now();
    const { expiresAt, ...rest } = await grant({ ttlMs: 60_000 });
    expect(rest).toStrictEqual({});
    const end = Date.parse(String(expiresAt));
    expect(new Date(end).toISOString()).toBe(expiresAt);
    expect(end).toBeGreaterThanOrEqual(before + 60_000);
    expect(end).toBeLessThanOrEqual(Date.now() + 60_000);
  });

  test('expiresAt goes before ttlMs', async () => {
    expect(await grant({ ttlMs: 60_000, expiresAt: far })).toStrictEqual({ expiresAt: far });
  });

  test.each(refusals)('%s is refused', async (policy, error) => {
    const to = `POST /sandboxes/${(await h.shared()).id}/egress-tokens` as const;
    const tokens = await h.answer(200, to.replace('POST', 'GET') as typeof to);
    expect(await h.refusal(400, to, policy)).toBe(error);
    expect(await h.answer(200, to.replace('POST', 'GET') as typeof to)).toEqual(tokens);
  });

  test('a sandbox whose egress is no policy is not made', async () => {
    // Whether a sandbox of another topic's is idle is not of this one's making.
    const list = async () => {
      const { sandboxes } = await h.answer<{ sandboxes: SandboxRecord[] }>(200, 'GET /sandboxes');
      return sandboxes.map(({ id }) => id);
    };
    const before = await list();
    for (const [policy, error] of refusals.filter((_, index) => index % 7 === 0))
      expect(await h.refusal(400, 'POST /sandboxes', `{"egress":${policy}}`)).toBe(error);
    expect(await list()).toEqual(before);
  });

  if (h.strict)
    test.each(['{"ttlMs":1e300}', '{"expiresAt":5}', '{"expiresAt":"Jan 1 2090"}'])(
      '%s is refused',
      async (policy) => {
        await h.refusal(400, `POST /sandboxes/${(await h.shared()).id}/egress-tokens`, policy);
      },
    );
}
