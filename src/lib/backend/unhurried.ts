import type { Call } from './contract.ts';

/** A call for what must be brought to its end whatever becomes of the caller's. */
export const unhurried: Call = { signal: new AbortController().signal };
