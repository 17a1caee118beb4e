/** Whether a call may go on to its provider: what the gateway answers when it may not. */
import type { SandboxRecord } from '../record.ts';
import { GatewayRefusal } from './refusal.ts';
import type { EgressToken, EgressTokens, OwnedToken, RateWindow } from './tokens.ts';

/** What a token is to be used for. */
export interface Wanted {
  readonly provider: string;
  /** All that the request names. */
  readonly models: readonly string[];
  /** Whether it asks a model for something, and does not only read. */
  readonly generates: boolean;
}

/** @throws GatewayRefusal 401 for one that is unknown or has expired */
export function checkToken(tokens: EgressTokens, token: string | undefined, now: Date): OwnedToken {
  const found = token === undefined ? undefined : tokens.find(token);
  if (found === undefined)
    throw new GatewayRefusal(401, 'unknown_token', 'no such egress token; it may have been revoked');
  const { expiresAt } = found.policy;
  if (expiresAt !== undefined && Date.parse(expiresAt) <= now.getTime())
    throw new GatewayRefusal(401, 'expired_token', `the egress token expired at ${expiresAt}`);
  return found;
}

/** @throws GatewayRefusal 403 */
export function checkAllowed({ policy }: EgressToken, { provider, models: named, generates }: Wanted): void {
  const { providers, models } = policy;
  if (providers !== undefined && !providers.includes(provider)) {
    throw new GatewayRefusal(
      403,
      'provider_not_allowed',
      `this egress token may not use ${provider}, only ${providers.join(', ')}`,
    );
  }
  if (models === undefined || (named.length === 0 && !generates)) return;
  const other =
    named.length === 0 ? 'a request that names no model' : named.find((each) => !models.includes(each));
  if (other !== undefined) {
    throw new GatewayRefusal(
      403,
      'model_not_allowed',
      `this egress token may not use ${named.length === 0 ? other : JSON.stringify(other)}, only ${models.join(', ')}`,
    );
  }
}

/**
 * What a call costs is known when it is over, so calls that run at the same time may go beyond a cap together.
 * @throws GatewayRefusal 402
 */
export function checkSpend(
  { policy, spendUsd }: EgressToken,
  { egressSpendCapUsd }: Pick<SandboxRecord, 'egressSpendCapUsd'>,
  spentBySandbox: number,
): void {
  const { spendCapUsd } = policy;
  if (spendCapUsd !== undefined && spendUsd >= spendCapUsd) {
    throw new GatewayRefusal(
      402,
      'spend_cap_reached',
      `the spend cap of this egress token, $${spendCapUsd}, is reached`,
    );
  }
  if (egressSpendCapUsd > 0 && spentBySandbox >= egressSpendCapUsd) {
    throw new GatewayRefusal(
      402,
      'spend_cap_reached',
      `the spend cap of this sandbox, $${egressSpendCapUsd}, is reached`,
    );
  }
}

/** Counts a call that is about to be made. @returns the token with the window that it falls into. @throws GatewayRefusal 429 */
export function countCall({ sandbox, ...token }: OwnedToken, now: Date): EgressToken {
  const { rateLimit } = token.policy;
  if (rateLimit === undefined) return token;
  const { windowMs, calls = 0, tokens = 0 } = rateLimit;
  const at = now.getTime();
  const past = token.window;
  const window: RateWindow =
    past === undefined || at >= past.since + windowMs ? { since: at, calls: 0, tokens: 0 } : past;
  const isFull = (calls > 0 && window.calls >= calls) || (tokens > 0 && window.tokens >= tokens);
  if (isFull) {
    const seconds = Math.max(1, Math.ceil((window.since + windowMs - at) / 1000));
    const what = calls > 0 && window.calls >= calls ? `${calls} calls` : `${tokens} tokens`;
    throw new GatewayRefusal(
      429,
      'rate_limit_reached',
      `this egress token may use ${what} in ${windowMs} ms; try again in ${seconds} s`,
      { 'Retry-After': String(seconds) },
    );
  }
  return { ...token, window: { ...window, calls: window.calls + 1 } };
}
