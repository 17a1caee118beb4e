/** How the status of a check looks. */
import type { Style } from './color.ts';

/** The colour of a status; none where there is no status. */
export function statusStyle(status: 'ok' | 'warning' | 'failed' | undefined): Style | undefined {
  return status === undefined
    ? undefined
    : ({ ok: 'green', warning: 'yellow', failed: 'red' } as const)[status];
}
