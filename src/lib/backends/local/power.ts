/** Starting and stopping a sandbox that exists. */
import type { Call } from '../../backend/contract.ts';
import { makeCgroups, removeCgroups, systemCgroups } from './cgroup.ts';
import { changingRecord } from './change.ts';
import type { Local } from './context.ts';
import { type InitProcess, readInit, writeInit } from './init-process.ts';
import { sandboxLayout } from './layout.ts';
import { startNamespaces } from './namespaces.ts';
import { planNetwork } from './network.ts';
import type { SandboxRecord } from './record.ts';
import { shutDown } from './shut-down.ts';
import { startTimer } from './time-to-live.ts';

type Ref = { readonly id: string; readonly name: string };

/** Starts a sandbox that does not run, its main command included. Call with its lock held. */
export async function startSandbox(local: Local, record: SandboxRecord, call: Call): Promise<InitProcess> {
  const files = sandboxLayout(local.layout, record.id);
  await shutDown(files.init, 0);
  const network = planNetwork(record.network);
  const cgroups = makeCgroups(systemCgroups(), record.id, record.limits);
  let init: InitProcess;
  try {
    init = await startNamespaces(local.layout, record, { network, cgroups, backend: local.name }, call);
  } catch (error) {
    removeCgroups(cgroups);
    throw error;
  }
  if (record.expiresAt !== undefined) {
    const timer = startTimer(init, Date.parse(record.expiresAt));
    init = { ...init, helpers: [...init.helpers, timer] };
    writeInit(files.init, init);
  }
  return init;
}

/** `start` of the contract. */
export async function start(local: Local, sandbox: Ref, call: Call): Promise<void> {
  const command = await changingRecord(local, sandbox, 'start', call, async (record) => {
    if (readInit(sandboxLayout(local.layout, record.id).init) !== undefined) return undefined;
    await startSandbox(local, record, call);
    return record.command;
  });
  if (command !== undefined) await startMain(local, sandbox, command, call);
}

/** Starts the main command of a sandbox that runs. */
export async function startMain(
  local: Local,
  sandbox: Ref,
  command: NonNullable<SandboxRecord['command']>,
  call: Call,
): Promise<void> {
  const { openSandbox } = await import('./sandbox.ts');
  await openSandbox(local, sandbox).can.processes?.start({ argv: command, name: 'main' }, call);
}

/** `stop` of the contract. */
export async function stop(local: Local, sandbox: Ref, graceMs: number, call: Call): Promise<void> {
  await changingRecord(local, sandbox, 'stop', call, (record) =>
    shutDown(sandboxLayout(local.layout, record.id).init, graceMs),
  );
}
