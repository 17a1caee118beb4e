/** Use of resources as the engine counts it. Docker Engine API, "ContainerStats": `one-shot` answers at once (from 1.41). */
import type { Call, Stats } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { type Box, missing, notRunning } from './box.ts';
import { segment } from './engine.ts';
import { stateOf } from './power.ts';

interface EngineStats {
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } };
  readonly memory_stats?: {
    readonly usage?: number;
    readonly limit?: number;
    readonly stats?: Readonly<Record<string, number>>;
  };
  readonly pids_stats?: { readonly current?: number };
  readonly networks?: Readonly<Record<string, { readonly rx_bytes?: number; readonly tx_bytes?: number }>>;
}

/** What the sandbox uses now. `conflict` when it does not run. */
export async function statsOf(box: Box, call: Call): Promise<Stats> {
  const { Running, Status } = await stateOf(box, call);
  if (Running !== true) throw notRunning(box, Status ?? '');
  let stats: EngineStats;
  try {
    stats = (await box.docker.engine.json(
      {
        method: 'GET',
        path: `/containers/${segment(box.container)}/stats`,
        query: { stream: false, 'one-shot': true },
        what: `see what sandbox '${box.name}' uses`,
      },
      call,
    )) as EngineStats;
  } catch (error) {
    if (error instanceof SbxError && error.code === 'not_found') throw missing(box.docker, box.name, error);
    throw error;
  }
  const { memory_stats: memory, networks } = stats;
  const cpu = stats.cpu_stats?.cpu_usage?.total_usage;
  const sum = (key: 'rx_bytes' | 'tx_bytes') =>
    networks === undefined
      ? undefined
      : Object.values(networks).reduce((total, each) => total + (each[key] ?? 0), 0);
  return {
    time: new Date().toISOString(),
    cpuMs: cpu === undefined ? undefined : Math.round(cpu / 1e6),
    cpus: box.facts?.limits.cpus,
    memory: inUse(memory),
    memoryLimit: box.facts?.limits.memory,
    networkRx: sum('rx_bytes'),
    networkTx: sum('tx_bytes'),
    processes: stats.pids_stats?.current,
  };
}

/** Without the file cache that the kernel would give up first, as `docker stats` counts; cgroups 1 and 2 have other names for it. */
function inUse(memory: EngineStats['memory_stats']): number | undefined {
  if (memory?.usage === undefined) return undefined;
  const cache = memory.stats?.total_inactive_file ?? memory.stats?.inactive_file ?? 0;
  return cache < memory.usage ? memory.usage - cache : memory.usage;
}
