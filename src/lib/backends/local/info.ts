import { statSync } from 'node:fs';
import type { SandboxInfo, SandboxState } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import type { Local } from './context.ts';
import { isRunning, tryInit } from './init-process.ts';
import { sandboxLayout } from './layout.ts';
import type { Listed, ListedInit, ListedRecord } from './listing.ts';
import type { SandboxRecord } from './record.ts';
import { namesOf } from './store.ts';

/** Everything known of a sandbox now. */
export function infoOf(local: Local, record: SandboxRecord): SandboxInfo {
  return describe(local, record, tryInit(sandboxLayout(local.layout, record.id).init));
}

/** {@link infoOf} from what was read already. @param last its init process, running or not. */
export function describe(local: Local, record: ListedRecord, last: Listed['init']): SandboxInfo {
  const expired = isExpired(record);
  if (last instanceof SbxError) {
    const { name, createdAt, labels = {} } = record;
    const reason = `${last.message}; stop it: sbx stop ${name}`;
    return { id: record.id, name, backend: local.name, state: 'failed', createdAt, labels, reason };
  }
  const init = last !== undefined && isRunning(last) ? last : undefined;
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
    labels: record.labels ?? {},
    network: init?.network ?? record.network,
    limits: Object.keys(record.limits ?? {}).length > 0 ? record.limits : undefined,
    workdir: record.workdir,
    user: record.user,
    command: record.command,
    isolation: record.isolation === 'none' ? 'none' : undefined,
    reason: expired ? 'expired' : undefined,
  };
}

/** What can be said of a sandbox whose files are broken, as `error` tells. */
export function brokenInfo(local: Local, id: string, error: SbxError): SandboxInfo {
  return {
    id,
    name: namesOf(local.layout, id)[0] ?? id,
    backend: local.name,
    state: 'failed',
    createdAt: statSync(sandboxLayout(local.layout, id).folder).birthtime.toISOString(),
    labels: {},
    reason: error.message,
  };
}

/** Whether its time to live is over. */
export function isExpired(record: Pick<SandboxRecord, 'expiresAt'>): boolean {
  return record.expiresAt !== undefined && Date.parse(record.expiresAt) <= Date.now();
}

function stateOf(record: ListedRecord, init: ListedInit | undefined): SandboxState {
  if (record.phase === 'creating') return 'creating';
  if (init === undefined) return 'stopped';
  return init.paused ? 'paused' : 'running';
}
