/** What use of resources costs, in dollars. */
import type { Usage } from './record.ts';
import type { CostRates } from './settings.ts';

export interface Cost {
  readonly cpu: number;
  readonly mem: number;
  readonly egress: number;
  readonly total: number;
}

const HOUR_S = 3600;
const GIGABYTE = 1e9;

export function costOf({ cpuSeconds, memGbSeconds, egressBytes }: Usage, rates: CostRates): Cost {
  const cpu = (cpuSeconds / HOUR_S) * rates.cpuPerHour;
  const mem = (memGbSeconds / HOUR_S) * rates.memGbPerHour;
  const egress = (egressBytes / GIGABYTE) * rates.egressPerGb;
  return { cpu, mem, egress, total: cpu + mem + egress };
}
