/** Who may pass the gateway, and what it is booked on. */
import type { SandboxRows } from '../store/sandboxes.ts';
import { checkAllowed, checkSpend, checkToken, countCall, type Wanted } from './admission.ts';
import type { Metered } from './meter.ts';
import { costOf, type Prices } from './prices.ts';
import type { Provider } from './providers.ts';
import type { EgressTokens, OwnedToken } from './tokens.ts';

export interface GateOptions {
  readonly rows: SandboxRows;
  readonly tokens: EgressTokens;
  readonly prices: Prices;
  readonly now: () => Date;
}

/** A call of a provider that is over, however it ended. */
export interface PastCall {
  readonly owner: OwnedToken;
  readonly provider: Provider;
  /** What the request named. */
  readonly model: string | undefined;
  readonly requestBytes: number;
  /** Undefined where no answer came. */
  readonly metered: Metered | undefined;
}

export interface Gate {
  /** @throws GatewayRefusal 401 */
  check(token: string | undefined): OwnedToken;
  /** Counts a call of a provider as made. @throws GatewayRefusal 401, 402, 403, 429 */
  admit(token: string | undefined, wanted: Wanted): OwnedToken;
  /** Books what it cost. */
  settle(call: PastCall): void;
  /** Books bytes that left the sandbox. */
  addBytes(sandbox: string, bytes: number): void;
}

/** Bytes of text that make a token, about. */
const BYTES_A_TOKEN = 4;
const NO_CAP = { egressSpendCapUsd: 0 };

export function openGate({ rows, tokens, prices, now }: GateOptions): Gate {
  const check = (token: string | undefined) => checkToken(tokens, token, now());
  const addBytes = (sandbox: string, bytes: number) => {
    const record = bytes === 0 ? undefined : rows.find(sandbox);
    if (record === undefined) return;
    const { usage } = record;
    rows.change(sandbox, { usage: { ...usage, egressBytes: usage.egressBytes + bytes } });
  };
  return {
    check,
    admit(token, wanted) {
      const owner = check(token);
      const { sandbox } = owner;
      checkAllowed(owner, wanted);
      checkSpend(owner, rows.find(sandbox) ?? NO_CAP, tokens.spent(sandbox));
      const counted = countCall(owner, now());
      tokens.put(sandbox, counted);
      return { ...counted, sandbox };
    },
    settle({ owner, provider, model = '', requestBytes, metered }) {
      const { sandbox, token } = owner;
      addBytes(sandbox, requestBytes);
      if (metered === undefined) return;
      const { told, events } = metered;
      // A stream that was left before its end has not said; a token an event is what providers send.
      const untold = told.output === undefined && events > 0;
      const guess = untold ? { input: Math.ceil(requestBytes / BYTES_A_TOKEN), output: events } : {};
      const use = { model, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...guess, ...told };
      const usd = provider.tellsCost && told.costUsd !== undefined ? told.costUsd : costOf(prices, use);
      const used = use.input + use.output + use.cacheRead + use.cacheWrite;
      if (used > 0) tokens.charge(sandbox, token, { usd, tokens: used });
    },
    addBytes,
  };
}
