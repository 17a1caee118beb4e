/** What a memory sandbox can do through its own exec, as any other sandbox can. */
import type { Sandbox, SandboxCapabilities } from '../../backend/contract.ts';
import { deriveArchive } from '../../backend/derived/archive.ts';
import { deriveDial } from '../../backend/derived/dial.ts';
import { deriveFiles } from '../../backend/derived/files.ts';
import { derivePorts } from '../../backend/derived/ports.ts';
import { deriveProcesses } from '../../backend/derived/processes.ts';
import { deriveSessions } from '../../backend/derived/sessions.ts';
import { deriveStats } from '../../backend/derived/stats.ts';

/** The derived capabilities of `sandbox`. Its processes share the network of this machine, so only its own listeners count. */
export function deriveAll(sandbox: Sandbox): SandboxCapabilities {
  return {
    archive: deriveArchive(sandbox),
    dial: deriveDial(sandbox),
    files: deriveFiles(sandbox),
    ports: derivePorts(sandbox, { ownedOnly: true }),
    processes: deriveProcesses(sandbox),
    sessions: deriveSessions(sandbox),
    stats: deriveStats(sandbox, { network: false }),
  };
}
