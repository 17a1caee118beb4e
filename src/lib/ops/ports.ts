/** What listens in a sandbox, once or as it changes. */
import type { Call, ListeningPort, Sandbox } from '../backend/contract.ts';
import { type CapabilityIndex, need } from '../backend/need.ts';
import { pause } from '../util/pause.ts';

/** @throws SbxError `unsupported` where the backend cannot tell. */
export async function listPorts(
  sandbox: Sandbox,
  having: CapabilityIndex,
  call: Call,
): Promise<readonly ListeningPort[]> {
  return await need(sandbox, 'ports', having).list(call);
}

export interface WatchPortsOptions {
  readonly having: CapabilityIndex;
  /** Milliseconds between two looks. */
  readonly intervalMs: number;
}

/** The list now and again whenever it differs, until the call is aborted, which ends it without an error. */
export async function* watchPorts(
  sandbox: Sandbox,
  { having, intervalMs }: WatchPortsOptions,
  call: Call,
): AsyncGenerator<readonly ListeningPort[], void, void> {
  let last: string | undefined;
  try {
    while (!call.signal.aborted) {
      const list = await listPorts(sandbox, having, call);
      const now = JSON.stringify(list);
      if (now !== last) yield list;
      last = now;
      await pause(intervalMs, call.signal);
    }
  } catch (error) {
    if (!call.signal.aborted) throw error;
  }
}
