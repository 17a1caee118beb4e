/** How tokens for model providers are shown. Pure. */
import type { EgressToken, ProviderAccess } from '../backend/contract.ts';
import { formatDuration } from '../util/duration.ts';
import type { View } from './output.ts';

export const egressTokenView: View<EgressToken> = {
  name: ({ token }) => token,
  columns: [
    { header: 'TOKEN', value: ({ token }) => token, whole: true },
    { header: 'SPENT', value: ({ spendUsd }) => dollars(spendUsd), align: 'right' },
    {
      header: 'CAP',
      value: ({ policy: { spendCapUsd } }) => (spendCapUsd === undefined ? undefined : dollars(spendCapUsd)),
      align: 'right',
    },
    { header: 'EXPIRES', value: ({ policy }) => policy.expiresAt },
    { header: 'RATE', value: shownRate },
    { header: 'MODELS', value: ({ policy }) => policy.models?.join(',') },
    { header: 'PROVIDERS', value: ({ policy }) => policy.providers?.join(',') },
  ],
};

/** A new token, and where to use it. */
export interface NewToken {
  readonly token: string;
  readonly providers: readonly ProviderAccess[];
}

export const newTokenView: View<NewToken> = { name: ({ token }) => token, columns: [] };

/** Small amounts matter here: a call costs a part of a cent. */
export function dollars(amount: number): string {
  return `$${amount.toFixed(amount > 0 && amount < 1 ? 6 : 2)}`;
}

function shownRate({ policy: { rateLimit } }: EgressToken): string | undefined {
  if (rateLimit === undefined) return undefined;
  const { windowMs, calls = 0, tokens = 0 } = rateLimit;
  const parts = [...(calls > 0 ? [`${calls} calls`] : []), ...(tokens > 0 ? [`${tokens} tokens`] : [])];
  return parts.length === 0 ? undefined : `${parts.join(', ')} in ${formatDuration(windowMs)}`;
}
