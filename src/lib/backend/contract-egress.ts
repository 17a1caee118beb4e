/** The part of the contract about the way out to model providers: tokens that stand in for their keys. Types only. */
import type { Call } from './contract.ts';

/** Calls and tokens of models in a window of time that begins with its first call; 0 and absent: any number. */
export interface RateLimit {
  readonly windowMs: number;
  readonly calls?: number;
  readonly tokens?: number;
}

/** What a token may do; what is absent limits nothing. */
export interface EgressPolicy {
  /** ISO 8601. */
  readonly expiresAt?: string;
  /** Dollars in all; 0: nothing may be spent. */
  readonly spendCapUsd?: number;
  readonly rateLimit?: RateLimit;
  readonly models?: readonly string[];
  readonly providers?: readonly string[];
}

/** How a provider is reached with a token. */
export interface ProviderAccess {
  readonly name: string;
  /** As the sandbox sees it. */
  readonly baseUrl: string;
  /** Names of the variables that the provider's SDK reads. */
  readonly baseUrlEnv: string;
  readonly keyEnv: string;
}

export interface EgressToken {
  readonly token: string;
  readonly policy: EgressPolicy;
  readonly spendUsd: number;
}

/** Tokens with which a sandbox uses providers without having their keys. */
export interface Egress {
  create(
    policy: EgressPolicy,
    call: Call,
  ): Promise<{ readonly token: string; readonly providers: readonly ProviderAccess[] }>;
  list(call: Call): Promise<readonly EgressToken[]>;
  /** `not_found` when the sandbox has no such token. */
  revoke(token: string, call: Call): Promise<void>;
}
