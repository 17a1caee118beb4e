/** What sandboxes use, with the share of the CPU that two samples give. */
import type { Call, Sandbox, Stats } from '../backend/contract.ts';
import { type CapabilityIndex, need } from '../backend/need.ts';
import { SbxError } from '../errors.ts';
import { pause } from '../util/pause.ts';

/** One sandbox's use of resources. */
export interface StatsRow extends Stats {
  readonly name: string;
  readonly backend: string;
  /** Of one CPU: 200 is two of them. Absent while there is one sample only. */
  readonly cpuPercent?: number | undefined;
}

/** Least time between two samples that a share of the CPU is taken from. */
export const LEAST_GAP_MS = 250;

interface Sample {
  readonly stats: Stats;
  /** On the monotonic clock, in milliseconds. */
  readonly at: number;
}

/** Two samples of a sandbox, a moment apart. */
export async function measure(sandbox: Sandbox, having: CapabilityIndex, call: Call): Promise<StatsRow> {
  const first = await sample(sandbox, having, call);
  await pause(LEAST_GAP_MS, call.signal);
  return rowOf(sandbox, first, await sample(sandbox, having, call));
}

/** What a look at many sandboxes gives. */
export interface StatsLook {
  readonly rows: readonly StatsRow[];
  /** Sandboxes that could not be measured; they are not asked again. */
  readonly lost: readonly { readonly name: string; readonly error: SbxError }[];
}

/**
 * Looks again and again until no sandbox is left or the call is given up, which is no error.
 * @param intervalMs time from the start of one look to the next.
 */
export async function* watchStats(
  sandboxes: readonly Sandbox[],
  options: { readonly having: CapabilityIndex; readonly intervalMs: number },
  call: Call,
): AsyncGenerator<StatsLook, void, void> {
  const before = new Map<Sandbox, Sample>();
  let left = [...sandboxes];
  // Without a sample before, the first look would have no share of the CPU.
  let waitMs = LEAST_GAP_MS;
  let shows = false;
  while (left.length > 0 && !call.signal.aborted) {
    const started = performance.now();
    const lost: { name: string; error: SbxError }[] = [];
    const rows = await Promise.all(
      left.map(async (sandbox) => {
        try {
          const now = await sample(sandbox, options.having, call);
          const row = rowOf(sandbox, before.get(sandbox), now);
          before.set(sandbox, now);
          return row;
        } catch (error) {
          if (call.signal.aborted) return undefined;
          if (!(error instanceof SbxError)) throw error;
          lost.push({ name: sandbox.name, error });
          left = left.filter((each) => each !== sandbox);
          return undefined;
        }
      }),
    );
    if (call.signal.aborted) return;
    const found = rows.filter((row) => row !== undefined);
    if (shows || lost.length > 0) yield { rows: shows ? found : [], lost };
    shows = true;
    await pause(Math.max(0, waitMs - (performance.now() - started)), call.signal);
    waitMs = options.intervalMs;
  }
}

/** Measures one sandbox again and again: from the second time on with the share of the CPU since the time before. */
export function statsSampler(having: CapabilityIndex): (sandbox: Sandbox, call: Call) => Promise<StatsRow> {
  let before: Sample | undefined;
  return async (sandbox, call) => {
    const now = await sample(sandbox, having, call);
    const row = rowOf(sandbox, before, now);
    before = now;
    return row;
  };
}

async function sample(sandbox: Sandbox, having: CapabilityIndex, call: Call): Promise<Sample> {
  const started = performance.now();
  const stats = await need(sandbox, 'stats', having)(call);
  // The counters were read somewhere on the way: the middle is off by half of it at most.
  return { stats, at: (started + performance.now()) / 2 };
}

function rowOf(sandbox: Sandbox, before: Sample | undefined, now: Sample): StatsRow {
  const used = (now.stats.cpuMs ?? Number.NaN) - (before?.stats.cpuMs ?? Number.NaN);
  const percent = (100 * used) / (now.at - (before?.at ?? now.at));
  // A counter that went back belongs to a sandbox that was restarted.
  const cpuPercent = Number.isFinite(percent) && percent >= 0 ? Math.round(percent * 10) / 10 : undefined;
  return {
    name: sandbox.name,
    backend: sandbox.backend,
    ...now.stats,
    ...(cpuPercent === undefined ? {} : { cpuPercent }),
  };
}
