/** What a server says of a sandbox, checked: it may be another program than ours, or none that means well. */
import type { SandboxInfo, SandboxState } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';

/** A sandbox of the hotcell API, as far as it is used here. */
export interface RemoteRecord {
  readonly id: string;
  /** Only of servers of ours. */
  readonly name?: string | undefined;
  readonly image?: string | undefined;
  readonly status: string;
  readonly createdAt: string;
  readonly driver?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: { readonly memoryMb?: number; readonly cpus?: number; readonly pidsLimit?: number };
  readonly workdir?: string | undefined;
  readonly command?: readonly string[] | undefined;
  readonly expiresAt?: string | undefined;
  readonly snapshot?: string | undefined;
}

const STATES: Readonly<Record<string, SandboxState>> = {
  running: 'running',
  paused: 'paused',
  stopped: 'stopped',
  vanished: 'failed',
};

/** @throws SbxError `failed` when it is no record. */
export function recordOf(value: unknown, backend: string): RemoteRecord {
  const fields = (value ?? {}) as Record<string, unknown>;
  const { id, status, createdAt } = fields;
  if (typeof id !== 'string' || typeof status !== 'string' || typeof createdAt !== 'string')
    throw new SbxError('failed', 'the server sent something that is no sandbox', { backend });
  return {
    id,
    status,
    createdAt,
    name: optionalText(fields.name),
    image: optionalText(fields.image),
    driver: optionalText(fields.driver),
    workdir: optionalText(fields.workdir),
    expiresAt: optionalText(fields.expiresAt),
    snapshot: optionalText(fields.snapshot),
    labels: texts(fields.labels),
    env: texts(fields.env),
    limits: limitsOf(fields.limits),
    command: Array.isArray(fields.command) ? fields.command.map(String) : undefined,
  };
}

/** What is known of it in our words. */
export function infoOf(record: RemoteRecord, backend: string): SandboxInfo {
  const {
    id,
    name = id,
    status,
    createdAt,
    image,
    labels,
    limits,
    workdir,
    command,
    expiresAt,
    snapshot,
  } = record;
  const { memoryMb, cpus, pidsLimit } = limits;
  return {
    id,
    name,
    backend,
    state: STATES[status] ?? 'failed',
    createdAt,
    expiresAt,
    image,
    snapshot,
    labels,
    workdir,
    limits: {
      ...(memoryMb === undefined ? {} : { memory: memoryMb * MEGABYTE }),
      ...(cpus === undefined ? {} : { cpus }),
      ...(pidsLimit === undefined ? {} : { pids: pidsLimit }),
    },
    ...(command === undefined ? {} : { command }),
    ...(status === 'vanished' ? { reason: 'vanished from the server' } : {}),
  };
}

export const MEGABYTE = 1024 * 1024;

/** What of a record is text, and what else is as good as absent. */
export const optionalText = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** Those of the fields that hold text. */
export function texts(value: unknown): Readonly<Record<string, string>> {
  if (value === null || typeof value !== 'object') return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function limitsOf(value: unknown): RemoteRecord['limits'] {
  if (value === null || typeof value !== 'object') return {};
  const numbers = Object.entries(value).filter(([, each]) => typeof each === 'number' && each > 0);
  return Object.fromEntries(numbers) as RemoteRecord['limits'];
}
