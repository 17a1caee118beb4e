/** Forwards whatever listens in a sandbox, as it comes and goes. */
import type { Call, ListeningPort, Sandbox } from '../../backend/contract.ts';
import { type CapabilityIndex, need } from '../../backend/need.ts';
import { SbxError } from '../../errors.ts';
import { pause } from '../../util/pause.ts';
import type { Forwarder } from './forwarder.ts';
import { type EstablishedForward, type ForwardHooks, forwardText } from './types.ts';
import { refuseGone } from './watch.ts';

export interface FollowOptions {
  readonly having: CapabilityIndex;
  readonly hooks: ForwardHooks;
  /** Ports in the sandbox that have a forward of their own. */
  readonly except: ReadonlySet<number>;
  readonly intervalMs: number;
}

/** Looks every `intervalMs` until the call is aborted, which ends it without an error. The first look is done when `ready` is called. */
export async function followPorts(
  sandbox: Sandbox,
  forwarder: Forwarder,
  { having, hooks, except, intervalMs }: FollowOptions,
  ready: () => void,
  call: Call,
): Promise<void> {
  const ports = need(sandbox, 'ports', having);
  const open = new Map<number, EstablishedForward>();
  while (!call.signal.aborted) {
    const found = await look();
    if (found !== undefined) await adjust(found);
    ready();
    await pause(intervalMs, call.signal);
  }

  /** What listens; undefined when the backend does not answer just now. */
  async function look(): Promise<ReadonlyMap<number, ListeningPort> | undefined> {
    try {
      return byPort(await ports.list(call));
    } catch (error) {
      if (call.signal.aborted) return undefined;
      await refuseGone(sandbox, call);
      if (!(error instanceof SbxError && error.retryable)) throw error;
      hooks.debug(`cannot see what listens: ${error.message}`);
      return undefined;
    }
  }

  async function adjust(found: ReadonlyMap<number, ListeningPort>): Promise<void> {
    for (const [port, forward] of open) {
      if (found.has(port)) continue;
      open.delete(port);
      await forwarder.close(forward);
      hooks.closed(forward);
      hooks.notice(`${forwardText(forward)} closed: nothing listens there any more`);
    }
    for (const [port, { address }] of found) {
      if (open.has(port) || except.has(port)) continue;
      const spec = { local: port, remote: port, explicit: false };
      open.set(port, await forwarder.openTcp(spec, isUsual(address) ? undefined : address));
    }
  }
}

/** One entry a port: that of the loopback or of all addresses where there is one. */
function byPort(list: readonly ListeningPort[]): Map<number, ListeningPort> {
  const found = new Map<number, ListeningPort>();
  for (const each of list) {
    if (!found.has(each.port) || isUsual(each.address)) found.set(each.port, each);
  }
  return found;
}

function isUsual(address: string): boolean {
  return ['127.0.0.1', '0.0.0.0', '::1', '::'].includes(address);
}
