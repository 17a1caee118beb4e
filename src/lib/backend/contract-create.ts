/** The part of the contract that says what a new sandbox is like. Types only; see contract.ts for the conventions. */
import type { Argv } from './contract.ts';
import type { EgressPolicy } from './contract-egress.ts';

/** Limits; bytes, CPUs as a fraction of one, number of processes. */
export interface Limits {
  readonly cpus?: number | undefined;
  readonly memory?: number | undefined;
  readonly pids?: number | undefined;
  readonly disk?: number | undefined;
}

/** Validated options of `create`; see `spec.ts`. An option a backend would ignore is refused before this is built. */
export interface CreateSpec {
  readonly name?: string | undefined;
  readonly image?: string | undefined;
  /** Directory or tar archive on this machine that becomes the root file system. */
  readonly rootfs?: string | undefined;
  readonly snapshot?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly limits: Limits;
  readonly network?: NetworkMode | undefined;
  /** A network that the backend knows by this name, instead of `network`. */
  readonly networkName?: string | undefined;
  /** Like `networkName`, but `create` fails unless that network leads nowhere but to its neighbours. */
  readonly closedNetwork?: string | undefined;
  readonly workdir?: string | undefined;
  readonly user?: string | undefined;
  readonly isolation?: 'namespaces' | 'none' | undefined;
  /** Milliseconds from creation until it is stopped and removed. */
  readonly ttl?: number | undefined;
  readonly hostname?: string | undefined;
  readonly ports?: readonly number[] | undefined;
  /** Folders and volumes of the backend's machine that are seen inside. */
  readonly volumes?: readonly Volume[] | undefined;
  /** What the backend runs it with, such as `runsc`. */
  readonly runtime?: string | undefined;
  /** Milliseconds without any use after which it is stopped. */
  readonly idle?: number | undefined;
  /** A token for model providers, and the variables by which their SDKs find it. */
  readonly egress?: EgressPolicy | undefined;
  /** The main process. Its output is what `logs` shows; the sandbox outlives it. Runs again at each `power.start`. */
  readonly command?: Argv | undefined;
}

/** An option of `create`; `limits.X` names a single limit, `limits` all of them. */
export type CreateOption = keyof CreateSpec | `limits.${keyof Limits}`;

export type NetworkMode = 'private' | 'host' | 'none';

/** Something of the backend's machine that is seen inside a sandbox. */
export interface Volume {
  /** An absolute path there, or the name of a volume. */
  readonly source: string;
  /** An absolute path inside. */
  readonly target: string;
  readonly readOnly?: boolean | undefined;
}
