/** What a backend type is, as data: drives `capabilities`, completion, prompts and refusals, without loading the backend. */
import type { BackendCapabilities, CreateOption, SandboxCapabilities } from './contract.ts';

/** Names of capabilities: the fields of a sandbox's or a backend's `can`. */
export type CapabilityName = keyof SandboxCapabilities | keyof BackendCapabilities;

/** `native`: the backend's own way. `derived`: made from exec by sbx. Absent: cannot. */
export type CapabilityKind = 'native' | 'derived';

/** A setting of a configured backend. */
export interface ConfigOption {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  /** Environment variable that gives it. */
  readonly env?: string;
  /** Never printed, stored only as the name of an environment variable or in a 0600 file. */
  readonly secret?: boolean;
  /** Where to get it. */
  readonly from?: string;
  /** All that it can be, where that is known. */
  readonly values?: readonly string[];
}

export interface Manifest {
  readonly type: string;
  readonly title: string;
  readonly capabilities: Readonly<Partial<Record<CapabilityName, CapabilityKind>>>;
  /** Options of `create` that this backend honours; the others are refused before the call. */
  readonly createOptions: readonly CreateOption[];
  /** What `create` makes a sandbox from when nothing is said, such as `a copy of this machine`. */
  readonly plainSource?: string;
  readonly limits: {
    /** Longest `exec --timeout` in milliseconds; absent: no limit. */
    readonly execTimeoutMs?: number;
  };
  readonly config: readonly ConfigOption[];
}
