/** How much memory sandboxes have been promised: no more than the budget, however many ask at once. */
import { HttpRefusal } from './http/refusal.ts';
import type { SandboxRecord } from './record.ts';
import type { ServeSettings } from './settings.ts';
import type { SandboxRows } from './store/sandboxes.ts';

export interface CapacityState {
  readonly enforced: true;
  readonly budgetMb: number;
  /** Of sandboxes that run, are paused, or are being made. */
  readonly promisedMb: number;
  readonly freeMb: number;
}

export interface Capacity {
  /** Undefined where nothing is enforced. */
  state(): CapacityState | undefined;
  /**
   * Sets memory aside for a sandbox until its record says that it runs, and the result is disposed of.
   * @param memoryMb its limit; undefined: it has none.
   * @throws HttpRefusal 503 when that is more than is left, 400 for one without a limit.
   */
  promise(memoryMb: number | undefined): Disposable;
}

export function openCapacity(
  rows: Pick<SandboxRows, 'list'>,
  { memoryBudgetMb }: Pick<ServeSettings, 'memoryBudgetMb'>,
): Capacity {
  let aside = 0;
  const state = (): CapacityState => {
    const promisedMb = aside + rows.list().reduce((sum, record) => sum + heldBy(record), 0);
    return {
      enforced: true,
      budgetMb: memoryBudgetMb,
      promisedMb,
      freeMb: Math.max(0, memoryBudgetMb - promisedMb),
    };
  };
  return {
    state: () => (memoryBudgetMb > 0 ? state() : undefined),
    promise(memoryMb) {
      if (memoryBudgetMb === 0) return { [Symbol.dispose]: () => undefined };
      if (memoryMb === undefined)
        throw new HttpRefusal(400, 'memoryMb is required: this server has a budget of memory');
      const { promisedMb, freeMb } = state();
      if (memoryMb > freeMb) {
        throw new HttpRefusal(
          503,
          `not enough memory: ${memoryMb} MB asked for, ${freeMb} MB left of ${memoryBudgetMb} MB (${promisedMb} MB promised)`,
        );
      }
      aside += memoryMb;
      return {
        [Symbol.dispose]() {
          aside -= memoryMb;
        },
      };
    },
  };
}

/** A stopped one holds none, and asks anew when it is started. */
function heldBy({ status, limits }: SandboxRecord): number {
  return status === 'running' || status === 'paused' ? (limits.memoryMb ?? 0) : 0;
}
