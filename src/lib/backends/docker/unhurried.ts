import type { Call } from '../../backend/contract.ts';

/** A call for what must be done whatever becomes of the caller's. */
export const unhurried: Call = { signal: new AbortController().signal };
