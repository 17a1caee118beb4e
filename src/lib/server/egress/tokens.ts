/**
 * Tokens of the egress gateway, with what has been spent with each. They belong to a sandbox and go with it; what it has
 * spent in all stays known when one of them is revoked.
 */
import type { EgressToken as Known } from '../../backend/contract.ts';
import { randomHex } from '../../util/random-id.ts';
import type { Database } from '../store/database.ts';
import { items } from '../store/items.ts';

/** Calls and tokens of models since the present window began. */
export interface RateWindow {
  /** Epoch milliseconds. */
  readonly since: number;
  readonly calls: number;
  readonly tokens: number;
}

export interface EgressToken extends Known {
  readonly window?: RateWindow;
}

/** A token and whose it is. */
export interface OwnedToken extends EgressToken {
  readonly sandbox: string;
}

export interface EgressTokens {
  /** In the order in which they were made. */
  list(sandbox: string): EgressToken[];
  find(token: string): OwnedToken | undefined;
  put(sandbox: string, token: EgressToken): void;
  /** @returns whether the sandbox had it. */
  revoke(sandbox: string, token: string): boolean;
  /** What all tokens of a sandbox have spent, in dollars. */
  spent(sandbox: string): number;
  /** Adds to what was spent, and to the tokens of models in the window. A token that is gone by now still counts for its sandbox. */
  charge(sandbox: string, token: string, use: { readonly usd: number; readonly tokens: number }): void;
}

/** 128 bits: what it stands in for costs money. */
const SECRET_BYTES = 16;

/** The sandbox stands in it, so that it is found by its key. */
export function newToken(sandbox: string): string {
  return `sbx_${sandbox}_${randomHex(SECRET_BYTES)}`;
}

const SHAPE = /^sbx_([a-z0-9]{1,64})_[0-9a-f]{32}$/;
const TOTAL = 'total';

export function egressTokens(db: Database): EgressTokens {
  const tokens = items<EgressToken>(db, 'egress-token');
  const spend = items<number>(db, 'egress-spend');
  const spent = (sandbox: string) => spend.get(sandbox, TOTAL) ?? 0;
  const isThere = (sandbox: string) =>
    db.prepare('SELECT 1 FROM sandbox WHERE id = ?').get(sandbox) !== undefined;
  return {
    list: (sandbox) => tokens.list(sandbox),
    find(token) {
      const sandbox = SHAPE.exec(token)?.[1];
      if (sandbox === undefined) return undefined;
      const found = tokens.get(sandbox, token);
      return found === undefined ? undefined : { ...found, sandbox };
    },
    put: (sandbox, token) => tokens.put(sandbox, token.token, token),
    revoke: (sandbox, token) => tokens.remove(sandbox, token),
    spent,
    charge(sandbox, token, { usd, tokens: used }) {
      db.transaction(() => {
        const found = tokens.get(sandbox, token);
        if (found !== undefined) {
          const { window } = found;
          tokens.put(sandbox, token, {
            ...found,
            spendUsd: found.spendUsd + usd,
            ...(window === undefined ? {} : { window: { ...window, tokens: window.tokens + used } }),
          });
        }
        if (isThere(sandbox)) spend.put(sandbox, TOTAL, spent(sandbox) + usd);
      });
    },
  };
}
