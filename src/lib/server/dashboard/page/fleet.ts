/** What is known of the sandboxes, kept fresh while somebody looks. */
import * as api from './api.ts';
import { Refused } from './failure.ts';
import { type Series, series } from './series.ts';
import { SLOTS } from './sparkline.ts';

const LOOK_MS = 3000;
/** Sandboxes that are measured at once. */
const AT_ONCE = 4;

/** A sandbox with what it took lately. */
export interface Box {
  readonly record: api.SandboxRecord;
  readonly usage: api.Usage;
  readonly cpu: Series;
  readonly memory: Series;
  /** Bytes that it may have; 0: no limit, or none that is known. */
  readonly memoryLimit: number;
  /** Undefined while nothing runs, or is known. */
  readonly live: api.Sample | undefined;
}

export interface Fleet {
  readonly boxes: ReadonlyMap<string, Box>;
  /** Lists them now, such as after a change. */
  look(): Promise<void>;
}

export interface FleetOptions {
  /** Those that are in sight: measuring takes the server work. */
  readonly inSight: () => Iterable<string>;
  readonly onChange: () => void;
  /** Undefined when the server answers again. */
  readonly onFailure: (error: unknown) => void;
}

/** Asks again and again, except while the page is hidden. */
export function openFleet({ inSight, onChange, onFailure }: FleetOptions): Fleet {
  const boxes = new Map<string, Box>();
  /** Those whose history is known. */
  const begun = new Set<string>();
  let asked = 0;

  const list = async () => {
    asked++;
    const mine = asked;
    const records = await api.sandboxes();
    // An answer that a later question has overtaken is out of date.
    if (mine !== asked) return;
    const gone = new Set(boxes.keys());
    for (const record of records) {
      gone.delete(record.id);
      const known = boxes.get(record.id) ?? unmeasured(record);
      const live = record.status === 'running' ? known.live : undefined;
      boxes.set(record.id, { ...known, record, live });
    }
    for (const id of gone) boxes.delete(id);
    onChange();
  };
  const measure = async (id: string) => {
    const box = boxes.get(id);
    if (box === undefined) return;
    if (!begun.has(id)) {
      begun.add(id);
      for (const sample of await api.history(id)) add(box, sample);
    }
    const { live, usage } = await api.metrics(id, box.record.status === 'running');
    if (live !== null) add(box, live);
    const now = boxes.get(id);
    if (now === undefined) return;
    const memoryLimit = live?.memLimitBytes ?? now.memoryLimit;
    boxes.set(id, { ...now, usage, memoryLimit, live: live ?? undefined });
    onChange();
  };
  const look = async () => {
    await list();
    onFailure(undefined);
    const ids = [...inSight()];
    const next = async () => {
      for (let id = ids.shift(); id !== undefined; id = ids.shift()) await measure(id).catch(unlessRefused);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
  };
  const again = async () => {
    if (!document.hidden) await look().catch(onFailure);
    setTimeout(again, LOOK_MS);
  };
  void again();
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) void list().catch(onFailure);
  });
  return { boxes, look: list };
}

function unmeasured(record: api.SandboxRecord): Box {
  return {
    record,
    usage: record.usage,
    cpu: series(SLOTS),
    memory: series(SLOTS),
    memoryLimit: 0,
    live: undefined,
  };
}

function add({ cpu, memory }: Box, sample: api.Sample): void {
  cpu.add(sample.cpuPercent);
  memory.add(sample.memBytes);
}

/** One that is removed meanwhile, or cannot be measured, is listed all the same. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof Refused)) throw error;
}
