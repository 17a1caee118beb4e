/** All sandboxes of all backends that were asked, side by side, and which backends could not answer. */
import type { Backend, Call, SandboxInfo, SandboxState } from '../backend/contract.ts';
import type { Backends } from '../backend/registry.ts';
import { SbxError } from '../errors.ts';
import { pause } from '../util/pause.ts';

/** Which sandboxes to list. */
export interface ListOptions {
  /** Also those that do not run. */
  readonly all: boolean;
  /** Every one of these labels; an empty value matches any. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Only these states. */
  readonly states?: readonly SandboxState[];
  /** Configured names; default: all. */
  readonly backends?: readonly string[];
}

/** A backend that could not be listed, and why. */
export interface BackendFailure {
  readonly backend: string;
  readonly error: SbxError;
}

/** The sandboxes, the newest first, and the backends that are missing from them. */
export interface Listing {
  readonly sandboxes: readonly SandboxInfo[];
  readonly failures: readonly BackendFailure[];
}

/** Asks the backends at the same time. One that fails is reported and spoils nothing; an interrupt does reject. */
export async function listSandboxes(backends: Backends, options: ListOptions, call: Call): Promise<Listing> {
  const names = [...new Set(options.backends ?? backends.names())];
  const failures: BackendFailure[] = [];
  const lists = await Promise.all(
    names.map(async (name) => {
      try {
        return await listOne(await backends.get(name), options, call);
      } catch (error) {
        if (!(error instanceof SbxError) || call.signal.aborted) throw error;
        failures.push({ backend: name, error });
        return [];
      }
    }),
  );
  const states = options.states === undefined ? undefined : new Set(options.states);
  const sandboxes = lists.flat().filter((info) => states === undefined || states.has(info.state));
  sandboxes.sort(newestFirst);
  return { sandboxes, failures };
}

async function listOne(backend: Backend, { all, labels }: ListOptions, call: Call): Promise<SandboxInfo[]> {
  const found: SandboxInfo[] = [];
  for await (const info of backend.list({ all, labels }, call)) found.push(info);
  return found;
}

function newestFirst(a: SandboxInfo, b: SandboxInfo): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/**
 * The listing now and again whenever it differs, until the call is aborted, which ends it without an error.
 * @param intervalMs time between two looks.
 */
export async function* watchSandboxes(
  backends: Backends,
  options: ListOptions,
  intervalMs: number,
  call: Call,
): AsyncGenerator<Listing, void, void> {
  let last: string | undefined;
  try {
    while (!call.signal.aborted) {
      const listing = await listSandboxes(backends, options, call);
      const now = JSON.stringify([listing.sandboxes, listing.failures.map(({ backend }) => backend)]);
      if (now !== last) yield listing;
      last = now;
      await pause(intervalMs, call.signal);
    }
  } catch (error) {
    if (!call.signal.aborted) throw error;
  }
}
