/** The whole of `forward`: opens what was asked for and stays until it is told to end or the sandbox is gone. */
import type { Call, Sandbox } from '../../backend/contract.ts';
import type { CapabilityIndex } from '../../backend/need.ts';
import { followPorts } from './follow.ts';
import { createForwarder } from './forwarder.ts';
import type { ForwardSpec, UnixSpec } from './spec.ts';
import type { EstablishedForward, ForwardHooks } from './types.ts';
import { watchSandbox } from './watch.ts';

/** What to forward. */
export interface ForwardPlan {
  readonly specs: readonly ForwardSpec[];
  readonly unix: readonly UnixSpec[];
  readonly reverse: boolean;
  /** Also follow what starts and stops listening in the sandbox. */
  readonly all: boolean;
  readonly address?: string | undefined;
}

export interface RunForwardOptions {
  readonly having: CapabilityIndex;
  readonly hooks: ForwardHooks;
  /** Called once everything that was asked for listens, with all of it. */
  readonly ready: (forwards: readonly EstablishedForward[]) => void | Promise<void>;
  /** Milliseconds between two looks at the sandbox. Default: 1000. */
  readonly intervalMs?: number;
}

/**
 * Resolves when the call is aborted: that is how a forward ends.
 * @throws SbxError `failed` when the sandbox is removed or stops, `conflict` when a port cannot be had, `unsupported`.
 */
export async function runForward(
  sandbox: Sandbox,
  plan: ForwardPlan,
  options: RunForwardOptions,
  call: Call,
): Promise<void> {
  const { having, hooks, intervalMs = 1000 } = options;
  const ended = new AbortController();
  const inner: Call = { signal: AbortSignal.any([call.signal, ended.signal]) };
  const listening: EstablishedForward[] = [];
  const forwarder = createForwarder(sandbox, { address: plan.address, having, hooks }, inner);
  try {
    for (const spec of plan.specs) {
      listening.push(await (plan.reverse ? forwarder.openReverse(spec) : forwarder.openTcp(spec)));
    }
    for (const spec of plan.unix) listening.push(await forwarder.openUnix(spec));
    const except = new Set(plan.specs.map(({ remote }) => remote));
    const work = [watchSandbox(sandbox, intervalMs, inner)];
    if (plan.all) {
      const first = Promise.withResolvers<void>();
      const following = followPorts(
        sandbox,
        forwarder,
        { having, hooks, except, intervalMs },
        first.resolve,
        inner,
      );
      work.push(following);
      await Promise.race([first.promise, ...work]);
    }
    if (!inner.signal.aborted) await options.ready(listening);
    await Promise.all(work);
  } catch (error) {
    if (!call.signal.aborted) throw error;
  } finally {
    ended.abort();
    await forwarder.closeAll();
  }
}
