import type { Call } from '../backend/contract.ts';

/** What has begun to change a sandbox is brought to its end, whether the client waits or not. */
export const unhurried: Call = { signal: new AbortController().signal };
