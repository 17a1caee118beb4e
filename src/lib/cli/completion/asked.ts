/** What a completer is asked, and what it may answer. */
import type { Call } from '../../backend/contract.ts';
import type { Backends } from '../../backend/registry.ts';
import type { Candidate } from './candidates.ts';
import type { Situation } from './situation.ts';

/** A question to a completer. */
export interface Asked extends Pick<Situation, 'word' | 'command' | 'flags' | 'args'> {
  /** What stands behind the colon of its name, such as `running` in `sandbox:running`. */
  readonly detail: string | undefined;
  /** Whether the word may also be something else, so that this must look like what the completer has. */
  readonly isOneOfMany: boolean;
}

/** Where names come from. Everything here may fail or take long; the caller sees to both. */
export interface World {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly paths: { readonly config: string; readonly state: string };
  /** What `--backend` or its variable says. */
  readonly chosen: string | undefined;
  readonly call: Call;
  backends(): Promise<Backends>;
  /** Told of every completer that failed. */
  note(error: unknown): void;
}

/** What can stand at the cursor. */
export interface Found {
  readonly candidates: readonly Candidate[];
  /** The shell is to add paths of this machine. */
  readonly local?: 'files' | 'folders';
}

/** Finds what an argument or the value of a flag can be. */
export type Completer = (asked: Asked, world: World) => Found | Promise<Found>;
