/** How many tokens of a model an answer took, as providers tell it: OpenAI's, Anthropic's and Google's way, streamed or not. */

/** Tokens; `input` is what came from no cache. */
export interface ModelUse {
  readonly model: string;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** In dollars, where the provider tells it. */
  readonly costUsd?: number;
}

/** What one message of an answer tells; later ones go before earlier ones. */
export type ToldUse = Partial<ModelUse>;

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {};

/** Of a whole answer, or of one event. Empty where it tells nothing. */
export function toldUse(value: unknown): ToldUse {
  if (Array.isArray(value)) return Object.assign({}, ...value.map(toldUse));
  const fields = fieldsOf(value);
  // Anthropic's first event has a message in it, and events of OpenAI's responses a response.
  const inner = [fields, fieldsOf(fields.message), fieldsOf(fields.response)];
  return Object.assign({}, ...inner.map(ofMessage));
}

function ofMessage(message: Fields): ToldUse {
  const model = message.model ?? message.modelVersion;
  return {
    ...(typeof model === 'string' ? { model } : {}),
    ...ofUsage(fieldsOf(message.usage)),
    ...ofGoogle(fieldsOf(message.usageMetadata)),
  };
}

function ofUsage(usage: Fields): ToldUse {
  const all = count(usage.prompt_tokens) ?? count(usage.input_tokens);
  const output = count(usage.completion_tokens) ?? count(usage.output_tokens);
  const cost = usage.cost;
  // OpenAI counts what it had in its cache among the input, Anthropic beside it.
  const within =
    count(fieldsOf(usage.prompt_tokens_details).cached_tokens) ??
    count(fieldsOf(usage.input_tokens_details).cached_tokens);
  const cacheRead = within ?? count(usage.cache_read_input_tokens);
  const cacheWrite = count(usage.cache_creation_input_tokens);
  return {
    ...(all === undefined ? {} : { input: Math.max(0, all - (within ?? 0)) }),
    ...(output === undefined ? {} : { output }),
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
    ...(typeof cost === 'number' && cost >= 0 ? { costUsd: cost } : {}),
  };
}

function ofGoogle(usage: Fields): ToldUse {
  const input = count(usage.promptTokenCount);
  const cached = count(usage.cachedContentTokenCount);
  const output = count(usage.candidatesTokenCount);
  const thought = count(usage.thoughtsTokenCount);
  return {
    ...(input === undefined ? {} : { input: Math.max(0, input - (cached ?? 0)) }),
    ...(cached === undefined ? {} : { cacheRead: cached }),
    ...(output === undefined && thought === undefined ? {} : { output: (output ?? 0) + (thought ?? 0) }),
  };
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
