/**
 * What sandboxes use: looked at every few seconds while they run, summed up in their records, and kept for a while as
 * samples. The last look of each stands in the database, so that nothing is lost or counted twice by a restart.
 */
import type { Call, Stats } from '../backend/contract.ts';
import { SbxError } from '../errors.ts';
import type { Daemon } from './daemon.ts';
import { keyedLock } from './keyed-lock.ts';
import type { SandboxRecord, Usage } from './record.ts';
import { items } from './store/items.ts';

/** Use at one moment, as the API tells it; 0 for what the backend does not know. */
export interface Live {
  /** Of one processor, since the last look. */
  readonly cpuPercent: number;
  readonly memBytes: number;
  readonly memLimitBytes: number;
  readonly pids: number;
  readonly netRxBytes: number;
  readonly netTxBytes: number;
}

export interface Sample extends Live {
  readonly time: string;
}

export interface Meter {
  /** Looks at one that runs, and counts. Undefined when it cannot be told. */
  look(id: string, call: Call): Promise<Live | undefined>;
  /** Looks at all that run, one after the other, and keeps what it saw. */
  round(call: Call): Promise<void>;
  /** The oldest first. */
  samples(id: string): readonly Sample[];
}

/** Milliseconds between two rounds. */
export const ROUND_MS = 5000;
/** Samples that are kept of each sandbox: half an hour. */
export const SAMPLES_KEPT = 360;
/** How long a sandbox may take to say what it uses, in milliseconds: one that was frozen meanwhile does not answer. */
const PATIENCE_MS = 10_000;
const GIGABYTE = 1e9;

/** What was seen at the last look. */
interface Mark {
  readonly at: number;
  readonly cpuMs: number;
  readonly memory: number;
}

const MARK = 'last';

export function openMeter({
  db,
  rows,
  fleet,
  now,
  onFresh,
  onGone,
}: Pick<Daemon, 'db' | 'rows' | 'fleet' | 'now' | 'onFresh' | 'onGone'>): Meter {
  const marks = items<Mark>(db, 'meter');
  const kept = new Map<string, Sample[]>();
  const lock = keyedLock();
  // Its counters begin anew.
  onFresh.add((id) => marks.put(id, MARK, { at: now().getTime(), cpuMs: 0, memory: 0 }));
  onGone.add((id) => void kept.delete(id));

  /** Adds what was used since the last look. @returns the share of a processor meanwhile. */
  const count = (record: SandboxRecord, stats: Stats): number =>
    db.transaction(() => {
      const { id, usage, createdAt } = record;
      const mark: Mark = { at: now().getTime(), cpuMs: stats.cpuMs ?? 0, memory: stats.memory ?? 0 };
      const before = marks.get(id, MARK) ?? { at: Date.parse(createdAt), cpuMs: 0, memory: 0 };
      const ms = Math.max(0, mark.at - before.at);
      // What a process that ended had used may be missing from the sum.
      const cpuMs = Math.max(0, mark.cpuMs - before.cpuMs);
      rows.change(id, { usage: sum(usage, { cpuMs, memoryMs: ((mark.memory + before.memory) / 2) * ms }) });
      marks.put(id, MARK, mark);
      return ms === 0 ? 0 : cpuMs / ms;
    });

  const look = (id: string, call: Call): Promise<Live | undefined> =>
    lock.run(id, async () => {
      try {
        using use = await fleet.look(id, call);
        const signal = AbortSignal.any([call.signal, AbortSignal.timeout(PATIENCE_MS)]);
        const stats = await use.sandbox.can.stats?.({ signal });
        const record = rows.find(use.record.id);
        if (stats === undefined || record?.status !== 'running') return undefined;
        return liveOf(stats, count(record, stats));
      } catch (error) {
        // Stopped or removed meanwhile, most likely; the next look will tell.
        if (error instanceof SbxError && error.code !== 'bug') return undefined;
        throw error;
      }
    });

  return {
    look,
    async round(call) {
      const at = now().getTime();
      for (const { id, status, createdAt } of rows.list()) {
        if (call.signal.aborted) return;
        // A new one has not used anything worth a look.
        if (status !== 'running' || at - Date.parse(createdAt) < ROUND_MS) continue;
        const live = await look(id, call);
        if (live === undefined || rows.find(id) === undefined) continue;
        const samples = kept.get(id) ?? [];
        samples.push({ time: now().toISOString(), ...live });
        if (samples.length > SAMPLES_KEPT) samples.shift();
        kept.set(id, samples);
      }
    },
    samples: (id) => kept.get(id) ?? [],
  };
}

function sum(
  usage: Usage,
  { cpuMs, memoryMs }: { readonly cpuMs: number; readonly memoryMs: number },
): Usage {
  return {
    ...usage,
    cpuSeconds: usage.cpuSeconds + cpuMs / 1000,
    memGbSeconds: usage.memGbSeconds + memoryMs / 1000 / GIGABYTE,
  };
}

function liveOf(stats: Stats, share: number): Live {
  return {
    cpuPercent: share * 100,
    memBytes: stats.memory ?? 0,
    memLimitBytes: stats.memoryLimit ?? 0,
    pids: stats.processes ?? 0,
    netRxBytes: stats.networkRx ?? 0,
    netTxBytes: stats.networkTx ?? 0,
  };
}
