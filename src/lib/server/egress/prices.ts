/** What models cost. The list goes out of date: an operator can bring another one. */
import Type from 'typebox';
import { Compile } from 'typebox/compile';
import { SbxError } from '../../errors.ts';
import type { ModelUse } from './usage.ts';

/** Dollars for a million tokens. Cached input costs as much as other input where nothing else is said. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** By model; `*` is that of all others. */
export type Prices = Readonly<Record<string, Price>>;

const openai = (input: number, cacheRead: number, output: number): Price => ({ input, cacheRead, output });
const anthropic = (input: number, output: number): Price => ({
  input,
  output,
  cacheRead: input / 10,
  cacheWrite: input * 1.25,
});

/** List prices. A model that is not here is taken for the dearest that is. */
export const PRICES: Prices = {
  'gpt-4o': openai(2.5, 1.25, 10),
  'gpt-4o-mini': openai(0.15, 0.075, 0.6),
  'gpt-4.1': openai(2, 0.5, 8),
  'gpt-4.1-mini': openai(0.4, 0.1, 1.6),
  'gpt-4.1-nano': openai(0.1, 0.025, 0.4),
  'gpt-5': openai(1.25, 0.125, 10),
  'gpt-5-mini': openai(0.25, 0.025, 2),
  'gpt-5-nano': openai(0.05, 0.005, 0.4),
  'gpt-5.1': openai(1.25, 0.125, 10),
  'gpt-5-pro': { input: 15, output: 120 },
  o3: openai(2, 0.5, 8),
  'o4-mini': openai(1.1, 0.275, 4.4),
  'text-embedding-3-small': { input: 0.02, output: 0 },
  'text-embedding-3-large': { input: 0.13, output: 0 },
  'claude-opus-4': anthropic(15, 75),
  'claude-opus-4-1': anthropic(15, 75),
  'claude-opus-4-5': anthropic(5, 25),
  'claude-sonnet-4': anthropic(3, 15),
  'claude-sonnet-4-5': anthropic(3, 15),
  'claude-haiku-4-5': anthropic(1, 5),
  'claude-3-7-sonnet': anthropic(3, 15),
  'claude-3-5-sonnet': anthropic(3, 15),
  'claude-3-5-haiku': anthropic(0.8, 4),
  'claude-3-haiku': anthropic(0.25, 1.25),
  'gemini-2.5-pro': { input: 2.5, output: 15 },
  'gemini-2.5-flash': { input: 0.3, output: 2.5 },
  'gemini-2.5-flash-lite': { input: 0.1, output: 0.4 },
  '*': { input: 15, output: 120 },
};

const dollars = Type.Number({ minimum: 0 });
const isPrices = Compile(
  Type.Record(
    Type.String(),
    Type.Object({
      input: dollars,
      output: dollars,
      cacheRead: Type.Optional(dollars),
      cacheWrite: Type.Optional(dollars),
    }),
  ),
);

/** The prices of a JSON file, which take the place of the list. @throws SbxError `usage` */
export function parsePrices(text: string): Prices {
  let value: unknown;
  let why = '';
  try {
    value = JSON.parse(text);
  } catch (error) {
    why = (error as Error).message;
  }
  if (why === '' && isPrices.Check(value) && '*' in value) return value;
  const [first] = isPrices.Errors(value);
  why ||= first === undefined ? 'there is no "*"' : `${first.instancePath} ${first.message}`;
  throw new SbxError('usage', `the file of prices is not right: ${why}`, {
    hint: 'dollars for a million tokens: {"gpt-4o": {"input": 2.5, "output": 10}, "*": {"input": 15, "output": 75}}',
  });
}

/** Names of versions, which cost what the model costs. */
const VERSION = /[-@](\d{4}-?\d\d-?\d\d|latest)$/;

/** The price of a model by its name, without the vendor before it and the version behind it. */
export function priceOf(prices: Prices, model: string): Price {
  const bare = model.replace(/^.*\//, '');
  const names = [model, bare, bare.replace(VERSION, ''), bare.replace(VERSION, '').replace(/-0$/, '')];
  const found = [...names, '*'].find((name) => Object.hasOwn(prices, name));
  return prices[found ?? '*'] ?? { input: 0, output: 0 };
}

const MILLION = 1_000_000;

/** What the use of a model comes to, in dollars. */
export function costOf(prices: Prices, { model, input, output, cacheRead, cacheWrite }: ModelUse): number {
  const price = priceOf(prices, model);
  const read = cacheRead * (price.cacheRead ?? price.input);
  const written = cacheWrite * (price.cacheWrite ?? price.input);
  return (input * price.input + output * price.output + read + written) / MILLION;
}
