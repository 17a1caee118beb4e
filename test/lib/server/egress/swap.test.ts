/** Requests to providers through the gateway: keys, answers, streams, and what is booked. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ModelProvider, modelProvider } from '../../../support/model-provider.ts';
import { type GatewayHere, gatewayHere, SANDBOX } from './gateway-here.ts';

const KEY = 'sk-real-0123456789';
let provider: ModelProvider;
let here: GatewayHere;

beforeAll(async () => {
  provider = await modelProvider();
  provider.release();
  here = await gatewayHere(settings());
});

function settings() {
  const baseUrl = provider.url;
  return {
    env: { OPENAI_API_KEY: 'other', REAL: KEY },
    providers: JSON.stringify([
      { name: 'openai', baseUrl: `${baseUrl}/v1`, keyEnv: 'REAL' },
      { name: 'anthropic', baseUrl, keyEnv: 'REAL' },
      { name: 'bare', baseUrl },
      { name: 'nobody', baseUrl: 'http://127.0.0.1:9' },
    ]),
    prices: JSON.stringify({
      'gpt-4o': { input: 2, output: 10, cacheRead: 1 },
      'claude-sonnet-4-5': { input: 3, output: 15, cacheRead: 0.3 },
      '*': { input: 100, output: 100 },
    }),
  };
}

afterAll(async () => {
  await here[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const post = (path: string, token: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${here.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const spent = (token: string) => here.egress.tokens.find(token)?.spendUsd;
const refusal = async (answer: Response) => {
  const { error } = (await answer.json()) as { error: { type: string; message: string } };
  return [answer.status, error.type];
};
const hi = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] };

describe('the key', () => {
  test.each([
    ['authorization', (token: string) => `Bearer ${token}`, `Bearer ${KEY}`],
    ['x-api-key', (token: string) => token, KEY],
    ['x-goog-api-key', (token: string) => token, KEY],
  ])('takes the place of the token in %s', async (header, say, expected) => {
    const token = here.mint();
    const answer = await fetch(`${here.url}/openai/models?a=b`, {
      headers: { [header]: say(token), cookie: 'a=b' },
    });
    expect(await answer.json()).toEqual({ data: [], url: '/v1/models?a=b' });
    const headers = provider.seen.at(-1)?.headers ?? {};
    expect(headers[header]).toBe(expected);
    expect(headers).toMatchObject({ host: new URL(provider.url).host, 'accept-encoding': 'identity' });
    expect(JSON.stringify(headers)).not.toContain(token);
    expect(headers.cookie).toBeUndefined();
  });

  test('comes in a header where the token came in the query, and no other key goes along', async () => {
    const token = here.mint();
    await fetch(`${here.url}/bare/v1beta/models?key=${token}&alt=sse`);
    expect(provider.seen.at(-1)?.url).toBe('/v1beta/models?alt=sse');
    await fetch(`${here.url}/openai/models`, {
      headers: { authorization: `Bearer ${token}`, 'x-api-key': 'mine' },
    });
    expect(provider.seen.at(-1)?.headers['x-api-key']).toBeUndefined();
  });

  test('is in nothing that comes back, even where the provider repeats it', async () => {
    const token = here.mint();
    const answer = await fetch(`${here.url}/openai/fail`, { headers: { authorization: `Bearer ${token}` } });
    const body = await answer.text();
    expect(answer.status).toBe(401);
    expect(body).toContain(`Bearer ${token}`);
    expect(body).not.toContain(KEY);
    expect(JSON.stringify([here.said, here.rows.list(), here.egress.tokens.list(SANDBOX)])).not.toContain(
      KEY,
    );
    // A token is money, too.
    expect(here.said.join('\n')).not.toContain(token);
  });
});

describe('paths', () => {
  test('go behind the base URL, whether or not they repeat its own', async () => {
    const token = here.mint();
    for (const path of ['/openai/chat/completions', '/openai/v1/chat/completions']) {
      expect((await post(path, token, hi)).status).toBe(200);
      expect(provider.seen.at(-1)?.url).toBe('/v1/chat/completions');
    }
  });

  test('of no provider are told which there are, but only with a token', async () => {
    expect(await refusal(await post('/other/x', here.mint(), hi))).toEqual([404, 'unknown_provider']);
    expect(await refusal(await post('/other/x', 'none', hi))).toEqual([401, 'unknown_token']);
  });
});

describe('an answer', () => {
  test.each([
    ['/openai/chat/completions', 'gpt-4o-2024-08-06', (600 * 2 + 400 + 200 * 10) / 1e6],
    ['/anthropic/v1/messages', 'claude-sonnet-4-5-20250929', (1000 * 3 + 400 * 0.3 + 200 * 15) / 1e6],
    ['/openai/chat/completions', 'unheard-of', (1200 * 100) / 1e6],
  ])('of %s for %s is booked', async (path, model, usd) => {
    for (const stream of [false, true]) {
      const token = here.mint();
      const before = here.egress.tokens.spent(SANDBOX);
      const over = here.handled();
      const answer = await post(path, token, { ...hi, model, stream });
      expect(await answer.text()).toMatch(/hel/);
      await over;
      expect(spent(token)).toBeCloseTo(usd, 9);
      expect(here.egress.tokens.spent(SANDBOX)).toBeCloseTo(before + usd, 9);
    }
  });

  test('is streamed as it comes', async () => {
    await using slow = await modelProvider();
    await using gateway = await gatewayHere({
      providers: JSON.stringify([{ name: 'slow', baseUrl: slow.url }]),
    });
    const answer = await fetch(`${gateway.url}/slow/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.mint()}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...hi, stream: true }),
    });
    const parts = (answer.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream());
    const reader = parts.getReader();
    expect((await reader.read()).value).toBe(
      `data: ${JSON.stringify({ model: 'gpt-4o', choices: [{ delta: { content: 'hel' } }] })}\n\n`,
    );
    slow.release();
    let rest = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) rest += part.value;
    expect(rest).toMatch(/^data: .*"lo".*\n\ndata: \[DONE\]\n\n$/);
  });

  test('tells its usage when that was asked for, and else only to the gateway', async () => {
    const ask = async (options: object) =>
      (await post('/openai/chat/completions', here.mint(), { ...hi, stream: true, ...options })).text();
    expect(await ask({})).not.toContain('usage');
    expect(provider.seen.at(-1)?.body).toContain('"stream_options":{"include_usage":true}');
    expect(await ask({ stream_options: { include_usage: true } })).toContain('usage');
  });

  test('that is left before its end is booked by what came', async () => {
    await using slow = await modelProvider();
    await using gateway = await gatewayHere({
      providers: JSON.stringify([{ name: 'slow', baseUrl: slow.url }]),
      prices: JSON.stringify({ '*': { input: 0, output: 1_000_000 } }),
    });
    const token = gateway.mint();
    const leave = new AbortController();
    const over = gateway.handled();
    const answer = await fetch(`${gateway.url}/slow/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...hi, stream: true }),
      signal: leave.signal,
    });
    await answer.body?.getReader().read();
    leave.abort();
    const { bug } = await over;
    expect(bug).toBeUndefined();
    expect(gateway.egress.tokens.find(token)?.spendUsd).toBe(1);
  });

  test('of a provider that is not there is 502', async () => {
    expect(await refusal(await post('/nobody/x', here.mint(), hi))).toEqual([502, 'unreachable']);
  });

  test('what was sent counts as egress of the sandbox', async () => {
    const { usage } = here.rows.find(SANDBOX) ?? { usage: { egressBytes: 0 } };
    const over = here.handled();
    await (await post('/bare/upload', here.mint(), {}, { 'content-type': 'text/plain' })).text();
    await over;
    expect(here.rows.find(SANDBOX)?.usage.egressBytes).toBe(usage.egressBytes + 2);
  });
});

describe('a token', () => {
  const ask = async (token: string, body: object = hi, path = '/openai/chat/completions') => {
    const over = here.handled();
    const answer = await post(path, token, body);
    const result = answer.ok ? [answer.status] : await refusal(answer);
    await over;
    return { result, retry: answer.headers.get('retry-after') };
  };

  test('that is unknown, was revoked or has expired is of no use', async () => {
    const token = here.mint({ expiresAt: '2030-01-01T00:00:01.000Z' });
    expect((await ask(token)).result).toEqual([200]);
    here.later(1000);
    expect((await ask(token)).result).toEqual([401, 'expired_token']);
    const other = here.mint();
    here.egress.tokens.revoke(SANDBOX, other);
    expect((await ask(other)).result).toEqual([401, 'unknown_token']);
    expect((await ask(`sbx_sb1_${'0'.repeat(32)}`)).result).toEqual([401, 'unknown_token']);
  });

  test('whose cap is reached is refused until it has a new one', async () => {
    const token = here.mint({ spendCapUsd: 0.004 });
    expect((await ask(token)).result).toEqual([200]);
    expect((await ask(token)).result).toEqual([200]);
    expect((await ask(token)).result).toEqual([402, 'spend_cap_reached']);
    expect((await ask(here.mint({ spendCapUsd: 0 }))).result).toEqual([402, 'spend_cap_reached']);
  });

  test('cannot spend more than its sandbox may, which a revoked one has used up', async () => {
    await using gateway = await gatewayHere(settings(), { record: { egressSpendCapUsd: 0.003 } });
    const use = async () => {
      const over = gateway.handled();
      const token = gateway.mint();
      const answer = await fetch(`${gateway.url}/openai/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(hi),
      });
      await answer.text();
      await over;
      gateway.egress.tokens.revoke(SANDBOX, token);
      return answer.status;
    };
    expect([await use(), await use()]).toEqual([200, 402]);
  });

  test('may be for some providers only', async () => {
    const token = here.mint({ providers: ['anthropic'] });
    expect((await ask(token)).result).toEqual([403, 'provider_not_allowed']);
    expect((await ask(token, hi, '/anthropic/v1/messages')).result).toEqual([200]);
  });

  test.each([
    ['another model', { model: 'gpt-5' }, '/openai/chat/completions', 403],
    ['no model', {}, '/openai/chat/completions', 403],
    ['a model of a list to fall back on', { model: 'gpt-4o', models: ['gpt-5'] }, '/openai/x', 403],
    ['another one in the path', { model: 'gpt-4o' }, '/bare/v1/models/gpt-5:generateContent', 403],
    ['its model', { model: 'gpt-4o' }, '/openai/chat/completions', 200],
    ['its model in the path', {}, '/bare/v1/models/gpt-4o:generateContent', 200],
  ])('for one model with %s', async (_, body, path, status) => {
    expect((await ask(here.mint({ models: ['gpt-4o'] }), body, path)).result[0]).toBe(status);
  });

  test('for one model sends on what was looked at', async () => {
    const answer = await fetch(`${here.url}/openai/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${here.mint({ models: ['gpt-4o'] })}`,
        'content-type': 'application/json',
      },
      body: '{"model":"gpt-5","model":"gpt-4o"}',
    });
    expect(answer.status).toBe(200);
    expect(provider.seen.at(-1)?.body).toBe('{"model":"gpt-4o"}');
  });

  test('has so many calls in a window, and is told when the next one begins', async () => {
    const token = here.mint({ rateLimit: { windowMs: 10_000, calls: 2 } });
    expect([(await ask(token)).result, (await ask(token)).result]).toEqual([[200], [200]]);
    here.later(4000);
    expect(await ask(token)).toEqual({ result: [429, 'rate_limit_reached'], retry: '6' });
    here.later(6000);
    expect((await ask(token)).result).toEqual([200]);
  });

  test('has so many tokens of models in a window', async () => {
    const token = here.mint({ rateLimit: { windowMs: 10_000, tokens: 1200 } });
    expect((await ask(token)).result).toEqual([200]);
    expect(await ask(token)).toEqual({ result: [429, 'rate_limit_reached'], retry: '10' });
  });
});

test('a body that is too large is refused', async () => {
  const answer = await post('/openai/chat/completions', here.mint(), { text: 'x'.repeat(200_000) });
  expect(await refusal(answer)).toEqual([413, 'request_too_large']);
});
