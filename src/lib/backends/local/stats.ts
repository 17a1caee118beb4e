/** Use of resources of a local sandbox: what is seen inside, made exact by its cgroups where it has some. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Call, Sandbox, Stats } from '../../backend/contract.ts';
import { deriveStats } from '../../backend/derived/stats.ts';
import type { InitProcess } from './init-process.ts';
import type { SandboxRecord } from './record.ts';

/** Names of counters below a cgroup folder: of version 2, then of version 1. */
const MEMORY = ['memory.current', 'memory.usage_in_bytes'];
const PROCESSES = ['pids.current'];

/** What the sandbox uses now. */
export async function statsOf(
  sandbox: Sandbox,
  record: SandboxRecord,
  init: InitProcess,
  call: Call,
): Promise<Stats> {
  const seen = await deriveStats(sandbox, { network: init.network !== 'host' })(call);
  const { memory, cpus } = record.limits;
  return {
    ...seen,
    memory: counter(init.cgroups, MEMORY) ?? seen.memory,
    processes: counter(init.cgroups, PROCESSES) ?? seen.processes,
    memoryLimit: memory ?? seen.memoryLimit,
    cpus: cpus ?? seen.cpus,
  };
}

function counter(folders: readonly string[], names: readonly string[]): number | undefined {
  for (const folder of folders) {
    for (const name of names) {
      const path = join(folder, name);
      if (existsSync(path)) return Number(readFileSync(path, 'utf8'));
    }
  }
  return undefined;
}
