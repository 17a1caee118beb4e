/** What an egress token may do, and the words in which the API refuses what is no policy. */
import Type from 'typebox';
import type { EgressPolicy, RateLimit } from '../../backend/contract.ts';
import { HttpRefusal } from '../http/refusal.ts';

const anything = (description: string) => Type.Optional(Type.Unknown({ description }));

/** A policy as it may be asked for: each field is looked at by {@link parsePolicy}, in the words of the API. */
export const askedPolicy = Type.Object({
  ttlMs: anything('milliseconds until it expires'),
  expiresAt: anything('when it expires, ISO 8601; goes before ttlMs'),
  spendCapUsd: anything('dollars that may be spent with it'),
  rateLimit: anything('{windowMs, calls?, tokens?}'),
  models: anything('names of models; none: all'),
  providers: anything('names of providers; none: all'),
});

const count = Type.Optional(Type.Number());

/** A policy as it is kept. */
export const keptPolicy = Type.Object({
  expiresAt: Type.Optional(Type.String({ format: 'date-time' })),
  spendCapUsd: count,
  rateLimit: Type.Optional(Type.Object({ windowMs: Type.Number(), calls: count, tokens: count })),
  models: Type.Optional(Type.Array(Type.String())),
  providers: Type.Optional(Type.Array(Type.String())),
});

/** An instant in the form of ISO 8601, with its offset from UTC. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/;
/** The last instant that there is, in milliseconds. */
const END_OF_TIME = 8.64e15;

type Fields = Readonly<Record<string, unknown>>;

/** @throws HttpRefusal 400 */
export function parsePolicy(asked: Fields, now: Date): EgressPolicy {
  const ttlMs = amount(asked, 'ttlMs');
  const expiresAt = instant(asked) ?? expiry(ttlMs, now);
  const spendCapUsd = amount(asked, 'spendCapUsd');
  const rateLimit = parseRateLimit(asked);
  const models = names(asked, 'models');
  const providers = names(asked, 'providers');
  return {
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(spendCapUsd === undefined ? {} : { spendCapUsd }),
    ...(rateLimit === undefined ? {} : { rateLimit }),
    ...(models === undefined ? {} : { models }),
    ...(providers === undefined ? {} : { providers }),
  };
}

function expiry(ttlMs: number | undefined, now: Date): string | undefined {
  if (ttlMs === undefined || ttlMs === 0) return undefined;
  const end = now.getTime() + ttlMs;
  if (end > END_OF_TIME) throw new HttpRefusal(400, 'ttlMs is beyond the end of time');
  return new Date(end).toISOString();
}

function instant({ expiresAt }: Fields): string | undefined {
  if (expiresAt === undefined || expiresAt === '') return undefined;
  if (typeof expiresAt === 'string' && INSTANT.test(expiresAt) && !Number.isNaN(Date.parse(expiresAt)))
    return expiresAt;
  throw new HttpRefusal(400, 'expiresAt must be an ISO timestamp');
}

function parseRateLimit({ rateLimit }: Fields): RateLimit | undefined {
  if (rateLimit === undefined) return undefined;
  if (typeof rateLimit !== 'object' || rateLimit === null)
    throw new HttpRefusal(400, 'rateLimit must be an object');
  const fields = rateLimit as Fields;
  const { windowMs } = fields;
  if (typeof windowMs !== 'number' || !Number.isFinite(windowMs) || windowMs <= 0)
    throw new HttpRefusal(400, 'rateLimit.windowMs must be a positive number');
  const calls = amount(fields, 'calls', 'rateLimit.calls');
  const tokens = amount(fields, 'tokens', 'rateLimit.tokens');
  return {
    windowMs,
    ...(calls === undefined ? {} : { calls }),
    ...(tokens === undefined ? {} : { tokens }),
  };
}

function amount(fields: Fields, name: string, shown = name): number | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  throw new HttpRefusal(400, `${shown} must be a non-negative number`);
}

function names(fields: Fields, name: string): readonly string[] | undefined {
  const value = fields[name];
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'string'))
    throw new HttpRefusal(400, `${name} must be an array of strings`);
  return value.length === 0 ? undefined : value;
}
