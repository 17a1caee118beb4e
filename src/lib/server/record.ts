/** What the server knows of a sandbox: the hotcell API's own shape, with a few fields more. Types only. */
import type { Argv } from '../backend/contract.ts';

/** `vanished`: its backend does not know it any more. */
export type RecordStatus = 'running' | 'paused' | 'stopped' | 'vanished';

export interface RecordLimits {
  readonly memoryMb?: number;
  readonly cpus?: number;
  readonly pidsLimit?: number;
}

/** Use that has been paid for, summed up over a sandbox's life. */
export interface Usage {
  readonly cpuSeconds: number;
  readonly memGbSeconds: number;
  readonly egressBytes: number;
}

export interface SandboxRecord {
  readonly id: string;
  /** What it is called on its backend; the id where nobody gave it a name. */
  readonly name: string;
  readonly image: string;
  readonly status: RecordStatus;
  readonly createdAt: string;
  /** The configured backend that it is on. */
  readonly driver: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Given to each command. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether its files outlive a stop. */
  readonly persist: boolean;
  readonly lastActivityAt: string;
  /** Milliseconds without use after which it is paused; 0: never. */
  readonly sleepAfterMs: number;
  readonly limits: RecordLimits;
  /** Most that it may spend at the egress gateway, in dollars; 0: no end. */
  readonly egressSpendCapUsd: number;
  readonly usage: Usage;
  readonly workdir: string;
  /** When it is removed; absent: never. */
  readonly expiresAt?: string | undefined;
  /** Id of the snapshot that it was made from. */
  readonly snapshot?: string | undefined;
  /** Its maker still furnishes it: nobody else sees it, and without its maker it goes. */
  readonly making?: true;
  readonly command?: Argv;
}

export const noUsage: Usage = { cpuSeconds: 0, memGbSeconds: 0, egressBytes: 0 };
