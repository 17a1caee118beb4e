/** What the gateway is told: checked once, never changed. */
import type { ListenAddress } from '../settings.ts';
import { type AllowedHosts, allowedHosts } from './allowed-hosts.ts';
import { PRICES, type Prices, parsePrices } from './prices.ts';
import { type Provider, providersFrom } from './providers.ts';

export interface EgressSettings {
  readonly listen: ListenAddress;
  /** Where sandboxes find it whose backend cannot bring it to their own loopback. */
  readonly advertise: string;
  readonly providers: readonly Provider[];
  readonly prices: Prices;
  /** Whether all traffic of sandboxes must go through it. */
  readonly enforce: boolean;
  /** A network without a way out, for sandboxes of backends that cannot bring the gateway to their loopback. */
  readonly network: string | undefined;
  /** Where its proxy goes to. */
  readonly allow: AllowedHosts;
  /** Most that a sandbox may spend of which nothing else was said, in dollars; 0: no end. */
  readonly spendCapUsd: number;
}

/** As an operator writes it. */
export interface EgressAsked {
  readonly listen: ListenAddress;
  readonly advertise?: string | undefined;
  /** The text of a file of providers, and that of one of prices. */
  readonly providers?: string | undefined;
  readonly prices?: string | undefined;
  readonly enforce: boolean;
  readonly network?: string | undefined;
  readonly allow: readonly string[];
  readonly spendCapUsd: number;
  /** Of the server: the keys are in it. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const EVERYWHERE = ['0.0.0.0', '::'];

/** @throws SbxError `usage` */
export function egressSettings(asked: EgressAsked): EgressSettings {
  const { listen, providers, prices, enforce, network, allow, spendCapUsd, env } = asked;
  return {
    listen,
    advertise: asked.advertise ?? (EVERYWHERE.includes(listen.host) ? '127.0.0.1' : listen.host),
    providers: providersFrom(env, providers),
    prices: prices === undefined ? PRICES : parsePrices(prices),
    enforce,
    network,
    allow: allowedHosts(allow),
    spendCapUsd,
  };
}
