/** What answers of providers tell, what it costs, and keys that are kept out of them. */
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { eventMeter, jsonMeter } from '../../../../src/lib/server/egress/meter.ts';
import { costOf, PRICES, parsePrices, priceOf } from '../../../../src/lib/server/egress/prices.ts';
import { providersFrom } from '../../../../src/lib/server/egress/providers.ts';
import { withoutSecret } from '../../../../src/lib/server/egress/secret.ts';
import { toldUse } from '../../../../src/lib/server/egress/usage.ts';

describe('usage', () => {
  test.each([
    [
      "of OpenAI's chats",
      {
        model: 'm',
        usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } },
      },
      { model: 'm', input: 6, output: 5, cacheRead: 4 },
    ],
    [
      "of OpenAI's responses, in an event",
      { type: 'response.completed', response: { model: 'm', usage: { input_tokens: 10, output_tokens: 5 } } },
      { model: 'm', input: 10, output: 5 },
    ],
    [
      "of Anthropic's messages",
      {
        model: 'm',
        usage: {
          input_tokens: 10,
          output_tokens: 5,
          cache_read_input_tokens: 4,
          cache_creation_input_tokens: 3,
        },
      },
      { model: 'm', input: 10, output: 5, cacheRead: 4, cacheWrite: 3 },
    ],
    [
      "of Google's, in pieces",
      [
        { modelVersion: 'm', usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2 } },
        { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 7 } },
      ],
      { model: 'm', input: 10, output: 12 },
    ],
    [
      "of OpenRouter's, with its cost",
      { usage: { prompt_tokens: 1, cost: 0.25 } },
      { input: 1, costUsd: 0.25 },
    ],
    ['that is none', { usage: { prompt_tokens: -1, completion_tokens: 'x' } }, {}],
    ['of nothing', null, {}],
  ])('%s', (_, value, expected) => {
    expect(toldUse(value)).toEqual(expected);
  });

  test('of an answer in any pieces', async () => {
    const answer =
      'event: a\r\ndata: {"usage":{"prompt_tokens":7}}\r\n\r\n: note\n\ndata: [DONE]\n\ndata: {"ü":1}';
    for (const size of [1, 2, 3, 7, 1000]) {
      const meter = eventMeter({ dropsUsage: false });
      const bytes = Buffer.from(answer);
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      expect(await text(Readable.from(pieces).pipe(meter.stream))).toBe(answer);
      expect(meter.metered()).toEqual({ told: { input: 7 }, events: 2 });
    }
  });

  test('of an answer that is no JSON is unknown', async () => {
    const meter = jsonMeter();
    expect(await text(Readable.from([Buffer.from('<html>')]).pipe(meter.stream))).toBe('<html>');
    expect(meter.metered()).toEqual({ told: {}, events: 0 });
  });
});

describe('prices', () => {
  test.each([
    ['gpt-4o', 'gpt-4o'],
    ['gpt-4o-2024-08-06', 'gpt-4o'],
    ['openai/gpt-4o-mini', 'gpt-4o-mini'],
    ['claude-opus-4-20250514', 'claude-opus-4'],
    ['claude-opus-4-0', 'claude-opus-4'],
    ['claude-3-5-haiku-latest', 'claude-3-5-haiku'],
    ['gpt-4o-something-else', '*'],
    ['constructor', '*'],
  ])('%s costs what %s does', (model, entry) => {
    expect(priceOf(PRICES, model)).toBe(PRICES[entry]);
  });

  test('a model that nobody knows is the dearest', () => {
    const { '*': other, ...known } = PRICES;
    for (const { input, output } of Object.values(known)) {
      expect(input).toBeLessThanOrEqual(other?.input ?? 0);
      expect(output).toBeLessThanOrEqual(other?.output ?? 0);
    }
  });

  test('are for a million tokens of each kind', () => {
    const prices = parsePrices('{"*":{"input":1,"output":10,"cacheRead":0.1}}');
    const use = { model: 'm', input: 1e6, output: 1e6, cacheRead: 1e6, cacheWrite: 1e6 };
    expect(costOf(prices, use)).toBeCloseTo(1 + 10 + 0.1 + 1, 9);
  });

  test.each([['{'], ['[]'], ['{}'], ['{"*":{"input":-1,"output":1}}'], ['{"m":{"input":1,"output":1}}']])(
    '%s is no list of them',
    (file) => {
      expect(() => parsePrices(file)).toThrow('the file of prices is not right');
    },
  );
});

describe('providers', () => {
  test('are those whose key is there, and those of the file, which go first', () => {
    const file = JSON.stringify([
      { name: 'openai', baseUrl: 'https://mine.example/v1', keyEnv: 'MINE' },
      { name: 'local', baseUrl: 'http://127.0.0.1:11434' },
    ]);
    const found = providersFrom(
      { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b', GEMINI_API_KEY: '', MINE: 'c' },
      file,
    );
    expect(found.map(({ name, baseUrl, key }) => [name, baseUrl.href, key])).toEqual([
      ['anthropic', 'https://api.anthropic.com/', 'b'],
      ['openai', 'https://mine.example/v1', 'c'],
      ['local', 'http://127.0.0.1:11434/', undefined],
    ]);
  });

  test.each([
    ['{', 'is not right'],
    ['[{"name":"A B","baseUrl":"https://x"}]', 'is not right'],
    ['[{"name":"x","baseUrl":"file:///etc"}]', 'is no http or https address'],
    ['[{"name":"x","baseUrl":"https://x","keyEnv":"NOT_SET"}]', 'needs $NOT_SET'],
  ])('%s is refused', (file, said) => {
    expect(() => providersFrom({}, file)).toThrow(said);
  });
});

test('a key is taken out of an answer in whatever pieces it comes', async () => {
  const bytes = Buffer.from('ssk-key sk-keysk-key and sk-ke, sk-k');
  for (const size of [1, 2, 3, 5, 100]) {
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    );
    expect(await text(Readable.from(pieces).pipe(withoutSecret('sk-key', 'T')))).toBe(
      'sT TT and sk-ke, sk-k',
    );
  }
});
