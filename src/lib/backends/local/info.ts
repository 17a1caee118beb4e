import type { SandboxInfo, SandboxState } from '../../backend/contract.ts';
import type { Local } from './context.ts';
import { type InitProcess, readInit } from './init-process.ts';
import { sandboxLayout } from './layout.ts';
import type { SandboxRecord } from './record.ts';

/** Everything known of a sandbox now. */
export function infoOf(local: Local, record: SandboxRecord): SandboxInfo {
  const init = readInit(sandboxLayout(local.layout, record.id).init);
  const expired = isExpired(record);
  return {
    id: record.id,
    name: record.name,
    backend: local.name,
    state: stateOf(record, expired ? undefined : init),
    createdAt: record.createdAt,
    startedAt: init?.startedAt,
    expiresAt: record.expiresAt,
    image: record.rootfsSource,
    snapshot: record.snapshot,
    labels: record.labels,
    network: init?.network ?? record.network,
    limits: Object.keys(record.limits).length > 0 ? record.limits : undefined,
    workdir: record.workdir,
    user: record.user,
    command: record.command,
    reason: expired ? 'expired' : undefined,
  };
}

/** Whether its time to live is over. */
export function isExpired(record: SandboxRecord): boolean {
  return record.expiresAt !== undefined && Date.parse(record.expiresAt) <= Date.now();
}

function stateOf(record: SandboxRecord, init: InitProcess | undefined): SandboxState {
  if (record.phase === 'creating') return 'creating';
  if (init === undefined) return 'stopped';
  return init.paused ? 'paused' : 'running';
}
