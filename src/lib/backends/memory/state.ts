/** What the memory backend remembers. */
import type {
  Argv,
  Sandbox,
  SandboxCapabilities,
  SandboxState,
  SnapshotInfo,
} from '../../backend/contract.ts';
import type { Manifest } from '../../backend/manifest.ts';

/** One sandbox; fields change as it lives. */
export interface Box {
  readonly id: string;
  name: string;
  /** The folder on this machine that stands for the sandbox's file system. */
  readonly folder: string;
  /** Value of `SBX_SANDBOX_MARK` in the environment of each of its processes. */
  readonly mark: string;
  state: SandboxState;
  readonly createdAt: string;
  startedAt: string | undefined;
  expiresAt: number | undefined;
  expiry: NodeJS.Timeout | undefined;
  readonly snapshot: string | undefined;
  env: Record<string, string>;
  readonly labels: Readonly<Record<string, string>>;
  readonly workdir: string | undefined;
  readonly user: string | undefined;
  readonly command: Argv | undefined;
  /** Set once it is removed; every later operation on a handle rejects. */
  gone: boolean;
}

/** A copy of a sandbox's files, with what it needs to come back. */
export interface Picture {
  readonly info: SnapshotInfo;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string | undefined;
}

/** All that one memory backend holds. */
export interface MemoryState {
  readonly backend: string;
  readonly root: string;
  readonly boxes: Map<string, Box>;
  readonly pictures: Map<string, Picture>;
  readonly manifest: Manifest;
  /** A box as the rest of the program sees it. */
  readonly open: (box: Box) => Sandbox;
  /** What is made from exec, added to each sandbox's `can`. */
  readonly derive: (sandbox: Sandbox) => SandboxCapabilities;
}
