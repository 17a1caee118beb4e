/** What use costs, at the rates that the server tells. */
import type { Usage } from '../../record.ts';

export interface Rates {
  readonly costCpuPerHour: number;
  readonly costMemGbPerHour: number;
  readonly costEgressPerGb: number;
}

export interface Cost {
  readonly cpu: number;
  readonly mem: number;
  readonly egress: number;
  readonly total: number;
}

/** In dollars. */
export function costOf({ cpuSeconds, memGbSeconds, egressBytes }: Usage, rates: Rates): Cost {
  const cpu = (cpuSeconds / 3600) * rates.costCpuPerHour;
  const mem = (memGbSeconds / 3600) * rates.costMemGbPerHour;
  const egress = (egressBytes / 1e9) * rates.costEgressPerGb;
  return { cpu, mem, egress, total: cpu + mem + egress };
}
