import type { Call } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';

/** @throws SbxError `interrupted` when the call has been given up. */
export function checkCall(call: Call): void {
  if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
}
