import type { Call } from '../../backend/contract.ts';
import type { Box } from './box.ts';
import { refuseOddName, renameContainer } from './create.ts';

/** `rename` of the contract. */
export async function rename(box: Box, name: string, call: Call): Promise<void> {
  // The engine refuses a name that the container has already.
  if (name === box.name) return;
  refuseOddName(box.docker, name);
  await renameContainer(box, name, call);
  box.name = name;
}
