/** A forward in the background, seen from its own process: runs it and keeps its record true. */
import type { Call, Sandbox } from '../../backend/contract.ts';
import type { CapabilityIndex } from '../../backend/need.ts';
import { keepRecord } from './background.ts';
import { type ForwardPlan, runForward } from './run.ts';

export interface KeptOptions {
  /** The state folder. */
  readonly state: string;
  readonly id: string;
  readonly pid: number;
  readonly now: () => Date;
  readonly having: CapabilityIndex;
  /** Gets the lines of its log. */
  readonly log: (line: string) => void;
}

/** Like {@link runForward}. The record goes when it is ended on purpose and stays, with the log, when it fails. */
export async function runKept(
  sandbox: Sandbox,
  plan: ForwardPlan,
  options: KeptOptions,
  call: Call,
): Promise<void> {
  const { state, id, pid, now, having, log } = options;
  const createdAt = now().toISOString();
  const record = keepRecord({ state, id, pid, createdAt, sandbox: sandbox.name, backend: sandbox.backend });
  let last: string | undefined;
  const hooks = {
    established: record.add,
    closed: record.remove,
    // The log must not grow with every connection that a page tries again.
    notice: (line: string) => {
      if (line !== last) log(`${now().toISOString()} ${line}`);
      last = line;
    },
    debug: () => undefined,
  };
  await runForward(sandbox, plan, { having, hooks, ready: record.ready }, call);
  await record.forget();
}
