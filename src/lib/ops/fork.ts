/** Copies a sandbox under a given or a made-up name. */
import type { Call, Sandbox, SandboxCapabilities } from '../backend/contract.ts';
import { checkName } from '../backend/spec.ts';
import { withFreeName } from './free-name.ts';

/** The copy, running. @throws SbxError `conflict` when the given name is taken */
export async function forkSandbox(
  fork: NonNullable<SandboxCapabilities['fork']>,
  name: string | undefined,
  call: Call,
): Promise<Sandbox> {
  if (name !== undefined) return fork({ name: checkName(name, 'the name of the copy') }, call);
  return withFreeName((free) => fork({ name: free }, call));
}
