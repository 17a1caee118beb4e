/** Starting and stopping a sandbox that exists. */
import type { Call, Sandbox } from '../../backend/contract.ts';
import { possibleCgroups, systemCgroups } from './cgroup.ts';
import { changingRecord } from './change.ts';
import type { Local } from './context.ts';
import { readInit } from './init-process.ts';
import { isolationOf } from './isolation.ts';
import { sandboxLayout } from './layout.ts';
import type { SandboxRecord } from './record.ts';
import { shutDown } from './shut-down.ts';
import { keepTime } from './time-to-live.ts';
import { markUnsettled, settle } from './unsettled.ts';

type Ref = { readonly id: string; readonly name: string };

/** What is done in a sandbox before it counts as started. */
export interface StartSteps {
  /** Whether its main command is started. */
  readonly main: boolean;
  /** Comes before the main command. */
  readonly prepare?: (sandbox: Sandbox) => Promise<void>;
}

/** Starts a sandbox that does not run. Call with its lock held. Rejects with nothing of it running. */
export async function startSandbox(
  local: Local,
  record: SandboxRecord,
  call: Call,
  { main, prepare }: StartSteps,
): Promise<void> {
  const files = sandboxLayout(local.layout, record.id);
  await shutDown(local.layout, record.id, 0);
  markUnsettled(files.unsettled, possibleCgroups(systemCgroups(), record.id));
  try {
    const isolation = isolationOf(record.isolation);
    await isolation.start(local, record, call);
    keepTime(files, record);
    if (prepare === undefined && (!main || record.command === undefined)) return settle(files.unsettled);
    const sandbox = isolation.open(local, record);
    await prepare?.(sandbox);
    if (main && record.command !== undefined)
      await sandbox.can.processes?.start({ argv: record.command, name: 'main' }, call);
    settle(files.unsettled);
  } catch (error) {
    await shutDown(local.layout, record.id, 0);
    throw error;
  }
}

/** `start` of the contract. */
export async function start(local: Local, sandbox: Ref, call: Call): Promise<void> {
  await changingRecord(local, sandbox, 'start', call, async (record) => {
    if (readInit(sandboxLayout(local.layout, record.id).init) === undefined)
      await startSandbox(local, record, call, { main: true });
  });
}

/** `stop` of the contract. */
export async function stop(local: Local, sandbox: Ref, graceMs: number, call: Call): Promise<void> {
  await changingRecord(local, sandbox, 'stop', call, (record) => shutDown(local.layout, record.id, graceMs));
}
