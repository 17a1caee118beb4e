/** What keeps a sandbox apart from this machine decides how it is made, started and entered. This is the one place that asks. */
import type { Call, CreateSpec, Sandbox } from '../../backend/contract.ts';
import type { Local } from './context.ts';
import type { SandboxLayout } from './layout.ts';
import type { SandboxRecord } from './record.ts';
import type { Ref } from './sandbox.ts';
import { openWithWalls } from './with-walls.ts';
import { openWithoutWalls, planWithoutWalls } from './without-walls.ts';

interface Isolation {
  /** Opens the handle; touches no file. */
  open(local: Local, ref: Ref): Sandbox;
  /** The spec as it can be had; refuses what cannot be honoured before anything is made. */
  plan(local: Local, spec: CreateSpec): CreateSpec;
  /** Whether it has users and folders of its own, such as a workdir that is made when it is missing. */
  readonly hasOwnRoot: boolean;
  /** The workdir of one that was not told any, where it is not the usual one. */
  workdir(files: SandboxLayout): string | undefined;
  /** Brings it to life. Call with its lock held. Rejects with nothing of it running. */
  start(local: Local, record: SandboxRecord, call: Call): Promise<void>;
}

const WAYS: Readonly<Record<SandboxRecord['isolation'], Isolation>> = {
  namespaces: {
    open: openWithWalls,
    plan: (_, spec) => spec,
    hasOwnRoot: true,
    workdir: () => undefined,
    start: async (local, record, call) =>
      (await import('./start-with-walls.ts')).startWithWalls(local, record, call),
  },
  none: {
    open: openWithoutWalls,
    plan: planWithoutWalls,
    hasOwnRoot: false,
    workdir: ({ home }) => home,
    start: async ({ layout }, record, call) =>
      (await import('./keeper.ts')).startKeeper(layout, record, call),
  },
};

/** How sandboxes with this isolation are dealt with; one whose record is broken counts as one with walls. */
export function isolationOf(isolation: SandboxRecord['isolation'] | undefined): Isolation {
  return isolation === 'none' ? WAYS.none : WAYS.namespaces;
}

/** Opens the sandbox with this id; touches no file. */
export function openSandbox(local: Local, ref: Ref): Sandbox {
  return isolationOf(ref.isolation).open(local, ref);
}
