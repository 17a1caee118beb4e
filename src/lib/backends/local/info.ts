import { statSync } from 'node:fs';
import type { SandboxInfo, SandboxState } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import type { Local } from './context.ts';
import { type InitProcess, readInit } from './init-process.ts';
import { sandboxLayout } from './layout.ts';
import type { SandboxRecord } from './record.ts';
import { namesOf } from './store.ts';

/** Everything known of a sandbox now. */
export function infoOf(local: Local, record: SandboxRecord): SandboxInfo {
  const expired = isExpired(record);
  let init: InitProcess | undefined;
  try {
    init = readInit(sandboxLayout(local.layout, record.id).init);
  } catch (error) {
    if (!(error instanceof SbxError)) throw error;
    const { name, createdAt, labels } = record;
    const reason = `${error.message}; stop it: sbx stop ${name}`;
    return { id: record.id, name, backend: local.name, state: 'failed', createdAt, labels, reason };
  }
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
export function isExpired(record: SandboxRecord): boolean {
  return record.expiresAt !== undefined && Date.parse(record.expiresAt) <= Date.now();
}

function stateOf(record: SandboxRecord, init: InitProcess | undefined): SandboxState {
  if (record.phase === 'creating') return 'creating';
  if (init === undefined) return 'stopped';
  return init.paused ? 'paused' : 'running';
}
