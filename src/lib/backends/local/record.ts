/** The record of a local sandbox: what is to be known of it while it does not run. */

import { basename, dirname } from 'node:path';
import type { Argv, Limits, NetworkMode } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { readJsonFile, writeJsonFile } from '../../store/json-file.ts';

/** `creating` and `removing` outlive only a client that died; the next command finishes the removal. */
export type Phase = 'creating' | 'ready' | 'removing';

/** Layers of each part, topmost first. */
export type PartLayers = Readonly<Record<string, readonly string[]>>;

export interface SandboxRecord {
  readonly version: 1;
  readonly id: string;
  readonly name: string;
  readonly phase: Phase;
  readonly createdAt: string;
  readonly expiresAt?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly user?: string | undefined;
  readonly hostname: string;
  /** What was asked for; `undefined`: private where this machine can, else host. */
  readonly network?: NetworkMode | undefined;
  readonly limits: Limits;
  readonly command?: Argv | undefined;
  /** Absolute path of the layer folder that a rootfs was taken from; absent: this machine. */
  readonly rootfs?: string | undefined;
  readonly rootfsSource?: string | undefined;
  readonly snapshot?: string | undefined;
  readonly isolation: 'namespaces' | 'none';
  readonly layers: PartLayers;
  /** The number of layers each part had when it was created: what lies above is its own. */
  readonly base: PartLayers;
  /** A freeze that may be half done: the layer that the upper folder is being moved to. */
  readonly freezing?: string | undefined;
  /** A restore that may be half done: the files may have been put aside. */
  readonly restoring?: true | undefined;
  /** A second name that it holds while it is being renamed. */
  readonly otherName?: string | undefined;
}

/** The record at `path`; undefined when there is none. Broken ones are reported with their path. */
export function readRecord(path: string): SandboxRecord | undefined {
  try {
    return readJsonFile(path, validate);
  } catch (error) {
    if (!(error instanceof SbxError)) throw error;
    // Not moved away, as other files can be: a sandbox without a record is a half-made one, and goes.
    const { code, message, cause } = error;
    const hint = `repair that file, or remove the sandbox: sbx rm --force ${basename(dirname(path))}`;
    throw new SbxError(code, message, { hint, cause });
  }
}

/** {@link readRecord} for those who go on without it: a broken one comes back as the error that names its path. */
export function tryRecord(path: string): SandboxRecord | SbxError | undefined {
  try {
    return readRecord(path);
  } catch (error) {
    if (error instanceof SbxError) return error;
    throw error;
  }
}

/** Replaces the record. */
export function writeRecord(path: string, record: SandboxRecord): void {
  writeJsonFile(path, record, { durable: false });
}

function validate(value: unknown): SandboxRecord {
  if (typeof value !== 'object' || value === null || !('version' in value))
    throw new Error('it is not the record of a sandbox');
  if (value.version !== 1)
    throw new SbxError('failed', `a sandbox's record has version ${String(value.version)}; this sbx knows 1`);
  const record = value as SandboxRecord;
  const { id, name, phase, createdAt, workdir, hostname, labels, env, limits, layers, base } = record;
  const isText = (item: unknown) => typeof item === 'string';
  const isObject = (item: unknown) => typeof item === 'object' && item !== null;
  const texts =
    isText(id) && isText(name) && isText(phase) && isText(createdAt) && isText(workdir) && isText(hostname);
  if (
    !texts ||
    !isObject(labels) ||
    !isObject(env) ||
    !isObject(limits) ||
    !isObject(layers) ||
    !isObject(base)
  ) {
    throw new Error('a field of the sandbox is missing or of another kind');
  }
  return record;
}
