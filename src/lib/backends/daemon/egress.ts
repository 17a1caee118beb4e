/** Tokens for model providers, which the server's gateway takes instead of their keys. What it says is checked. */
import type { Egress, EgressPolicy, EgressToken, ProviderAccess, RateLimit } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { type Api, segment } from './api.ts';

/** @param at the path of the sandbox. */
export function egressOf(api: Api, at: string): Egress {
  const path = `${at}/egress-tokens`;
  const text = (value: unknown): string => {
    if (typeof value === 'string') return value;
    throw new SbxError('failed', 'the server sent something that is no token', { backend: api.backend });
  };
  return {
    async create(policy, call) {
      const made = fieldsOf(await api.json({ method: 'POST', path, body: policy }, call));
      return { token: text(made.token), providers: list(made.providers).map(accessOf) };
    },
    async list(call) {
      const { tokens } = fieldsOf(await api.json({ method: 'GET', path }, call));
      return list(tokens)
        .map(fieldsOf)
        .map(
          ({ token, policy, spendUsd }): EgressToken => ({
            token: text(token),
            policy: policyOf(fieldsOf(policy)),
            spendUsd: amount(spendUsd) ?? 0,
          }),
        );
    },
    async revoke(token, call) {
      await api.json({ method: 'DELETE', path: `${path}/${segment(token)}` }, call);
    },
  };
}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {};
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const texts = (value: unknown) => list(value).filter((each) => typeof each === 'string');
const amount = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);

function policyOf({ expiresAt, spendCapUsd, rateLimit, models, providers }: Fields): EgressPolicy {
  const cap = amount(spendCapUsd);
  const rate = rateOf(fieldsOf(rateLimit));
  return {
    ...(typeof expiresAt === 'string' ? { expiresAt } : {}),
    ...(cap === undefined ? {} : { spendCapUsd: cap }),
    ...(rate === undefined ? {} : { rateLimit: rate }),
    ...(Array.isArray(models) ? { models: texts(models) } : {}),
    ...(Array.isArray(providers) ? { providers: texts(providers) } : {}),
  };
}

function rateOf(fields: Fields): RateLimit | undefined {
  const windowMs = amount(fields.windowMs);
  const calls = amount(fields.calls);
  const tokens = amount(fields.tokens);
  if (windowMs === undefined) return undefined;
  return { windowMs, ...(calls === undefined ? {} : { calls }), ...(tokens === undefined ? {} : { tokens }) };
}

function accessOf(value: unknown): ProviderAccess {
  const { name, baseUrl, baseUrlEnv, keyEnv } = fieldsOf(value);
  return {
    name: String(name),
    baseUrl: String(baseUrl),
    baseUrlEnv: String(baseUrlEnv),
    keyEnv: String(keyEnv),
  };
}
