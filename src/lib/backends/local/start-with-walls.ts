/** Starts a sandbox in namespaces, with its network and its limits. */
import type { Call } from '../../backend/contract.ts';
import { makeCgroups, systemCgroups } from './cgroup.ts';
import type { Local } from './context.ts';
import { startNamespaces } from './namespaces.ts';
import { planNetwork } from './network.ts';
import type { SandboxRecord } from './record.ts';

/** Call with the sandbox's lock held. Rejects with nothing of it running. */
export async function startWithWalls(local: Local, record: SandboxRecord, call: Call): Promise<void> {
  const network = planNetwork(record.network);
  const cgroups = makeCgroups(systemCgroups(), record.id, record.limits);
  await startNamespaces(local.layout, record, { network, cgroups, backend: local.name }, call);
}
