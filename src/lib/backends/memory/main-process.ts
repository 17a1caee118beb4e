/** Starts the main command of a memory sandbox as its process `main`. */
import type { Call } from '../../backend/contract.ts';
import type { Box, MemoryState } from './state.ts';

/** Does nothing when the sandbox has no main command. */
export async function startMain(state: MemoryState, box: Box, call: Call): Promise<void> {
  if (box.command === undefined) return;
  await state.open(box).can.processes?.start({ argv: box.command, name: 'main' }, call);
}
