/** Use of resources, as a plain server measures it. */
import type { Call, Stats } from '../../../backend/contract.ts';
import type { Api } from '../api.ts';

type Numbers = Readonly<Record<string, unknown>>;

/** @param at the path of the sandbox. What is 0 where it cannot be is not known. */
export async function statsOf(api: Api, at: string, call: Call): Promise<Stats> {
  const { live, usage } = await api.json<{ readonly live?: Numbers | null; readonly usage?: Numbers }>(
    { method: 'GET', path: `${at}/metrics` },
    call,
  );
  const number = (value: unknown) =>
    typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
  const positive = (value: unknown) => number(value) || undefined;
  const seconds = positive(usage?.cpuSeconds);
  return {
    time: new Date().toISOString(),
    ...(seconds === undefined ? {} : { cpuMs: seconds * 1000 }),
    memory: positive(live?.memBytes),
    memoryLimit: positive(live?.memLimitBytes),
    processes: positive(live?.pids),
    networkRx: number(live?.netRxBytes),
    networkTx: number(live?.netTxBytes),
  };
}
