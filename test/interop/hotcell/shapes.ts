/** What the API sends: every field with its type. Compared with `toStrictEqual`, so that a field more or less shows. */
import { expect } from 'vitest';

export interface SandboxRecord {
  readonly id: string;
  readonly image: string;
  readonly status: 'running' | 'stopped' | 'paused';
  readonly createdAt: string;
  readonly driver: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly persist: boolean;
  readonly lastActivityAt: string;
  readonly sleepAfterMs: number;
  readonly limits: { readonly memoryMb?: number; readonly cpus?: number; readonly pidsLimit?: number };
  readonly egressSpendCapUsd: number;
  readonly usage: {
    readonly cpuSeconds: number;
    readonly memGbSeconds: number;
    readonly egressBytes: number;
  };
}

export interface Session {
  readonly sessionId: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly createdAt: string;
}

export interface Process {
  readonly procId: string;
  readonly pid: number;
  readonly status: 'running' | 'exited';
}

export interface Provider {
  readonly name: string;
  readonly baseUrl: string;
  readonly baseUrlEnv: string;
  readonly keyEnv: string;
}

export interface Token {
  readonly token: string;
  readonly policy: Readonly<Record<string, unknown>>;
  readonly providers: readonly Provider[];
}

export interface Tokens {
  readonly tokens: readonly {
    readonly token: string;
    readonly policy: unknown;
    readonly spendUsd: number;
    readonly spendRemaining: number | null;
  }[];
  readonly providers: readonly Provider[];
}

export interface Info {
  readonly driver: string;
  readonly drivers: readonly string[];
  readonly defaultImage: string;
  readonly proxyPort: number;
  readonly costCpuPerHour: number;
  readonly costMemGbPerHour: number;
  readonly costEgressPerGb: number;
  readonly defaultSleepAfterMs: number;
  readonly auth: boolean;
  readonly egressPort: number;
  readonly egressProviders: readonly string[];
  readonly defaultMemoryMb: number;
  readonly defaultCpus: number;
  readonly defaultPidsLimit: number;
}

const number: unknown = expect.any(Number);

/** A moment as JavaScript writes it. */
export const moment: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** An id that can stand in a path, a host name and a shell command as it is. */
export const identifier: unknown = expect.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{3,99}$/);

export const usage = { cpuSeconds: number, memGbSeconds: number, egressBytes: number };

/** A new sandbox that nothing was asked of, but `changed`. Servers may tell more. */
export function recordShape(changed: Partial<Record<keyof SandboxRecord, unknown>> = {}): unknown {
  return expect.objectContaining({
    id: identifier,
    image: expect.any(String),
    status: 'running',
    createdAt: moment,
    driver: expect.any(String),
    labels: {},
    env: {},
    persist: true,
    lastActivityAt: moment,
    sleepAfterMs: number,
    limits: expect.any(Object),
    egressSpendCapUsd: number,
    usage,
    ...changed,
  });
}

/** A background process, but `changed`. */
export function processShape(changed: Readonly<Record<string, unknown>> = {}): unknown {
  return {
    procId: identifier,
    pid: number,
    command: expect.any(String),
    status: 'running',
    exitCode: null,
    startedAt: moment,
    logPath: expect.stringMatching(/^\//),
    ...changed,
  };
}

export const providerShape = {
  name: expect.stringMatching(/\S/),
  baseUrl: expect.stringMatching(/^https?:\/\/[^/]+\/\S+$/),
  baseUrlEnv: expect.stringMatching(/^[A-Z0-9_]+$/),
  keyEnv: expect.stringMatching(/^[A-Z0-9_]+$/),
};

/** Seconds and dollars are computed apart, so that the last digits may differ. */
export function about(value: number): unknown {
  return expect.closeTo(value, 9);
}
