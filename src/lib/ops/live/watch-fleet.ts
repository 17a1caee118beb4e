/** What runs where, as it changes: each backend and each sandbox at its own pace, none in the way of another. */
import type { Call, ListeningPort, Sandbox, SandboxInfo, SessionInfo } from '../../backend/contract.ts';
import type { Backends } from '../../backend/registry.ts';
import { SbxError } from '../../errors.ts';
import { pause } from '../../util/pause.ts';
import { type ListOptions, listSandboxes } from '../list.ts';
import { type StatsRow, statsSampler } from '../stats.ts';
import { createPoller, type Job } from './poller.ts';

/** Something new is known. */
export type FleetEvent =
  | { readonly type: 'listed'; readonly backend: string; readonly sandboxes: readonly SandboxInfo[] }
  | { readonly type: 'unlisted'; readonly backend: string; readonly error: SbxError }
  | { readonly type: 'measured'; readonly key: string; readonly row: StatsRow }
  | { readonly type: 'looked'; readonly key: string; readonly look: Look }
  | { readonly type: 'silent'; readonly key: string; readonly on: Question; readonly error: SbxError };

/** What a sandbox is asked for. */
export type Question = 'stats' | 'look';

/** What a sandbox has, where its backend can tell. */
export interface Look {
  readonly sessions?: readonly SessionInfo[] | undefined;
  readonly ports?: readonly ListeningPort[] | undefined;
}

/** One sandbox among those of all backends. */
export function fleetKey({ backend, id }: Pick<SandboxInfo, 'backend' | 'id'>): string {
  return `${backend}/${id}`;
}

/** What is watched, and how eagerly. */
export interface WatchOptions extends ListOptions {
  /** Factor of all pauses; 1 costs little, and less is for those who cannot wait. */
  readonly pace?: number;
}

const LIST_MS = 2000;
/** A backend that says nothing for so long is said not to answer, while it is waited for. */
const SILENCE_MS = 5000;

/**
 * Lists each backend again and again, and tells when its list differs or it fails.
 * Runs until the call is given up, which is no error.
 */
export async function watchLists(
  backends: Backends,
  options: WatchOptions,
  tell: (event: FleetEvent) => void,
  call: Call,
): Promise<void> {
  const names = [...new Set(options.backends ?? backends.names())];
  await Promise.all(names.map((name) => watchList(backends, name, options, tell, call)));
}

async function watchList(
  backends: Backends,
  backend: string,
  options: WatchOptions,
  tell: (event: FleetEvent) => void,
  call: Call,
): Promise<void> {
  let last: string | undefined;
  while (!call.signal.aborted) {
    const listing = listSandboxes(backends, { ...options, backends: [backend] }, call);
    const silence = new AbortController();
    void pause(SILENCE_MS, AbortSignal.any([call.signal, silence.signal])).then(() => {
      if (call.signal.aborted || silence.signal.aborted) return;
      last = undefined;
      const error = new SbxError('unreachable', `backend '${backend}' does not answer`, { backend });
      tell({ type: 'unlisted', backend, error });
    });
    try {
      const { sandboxes, failures } = await listing;
      const now = JSON.stringify([sandboxes, failures.map(({ error }) => error.message)]);
      if (now !== last) {
        const error = failures[0]?.error;
        tell(
          error === undefined ? { type: 'listed', backend, sandboxes } : { type: 'unlisted', backend, error },
        );
      }
      last = now;
    } catch (error) {
      if (!call.signal.aborted) throw error;
    } finally {
      silence.abort();
    }
    await pause(LIST_MS * (options.pace ?? 1), call.signal);
  }
}

/** What is asked of every sandbox. */
export interface AskOptions {
  /** The sandbox that a person looks at: it is asked more often. */
  chosen(): string | undefined;
  /** Also its sessions and ports. */
  readonly look: boolean;
  /** Milliseconds between two measurements of the chosen sandbox; the others are measured less often. */
  readonly intervalMs: number;
  /** See {@link WatchOptions}. */
  readonly pace?: number | undefined;
}

/** Questions at a time, and when one no longer counts. */
const POLL = { most: 2, patienceMs: 1000 };
/** Every question starts processes: with many sandboxes each is asked less often. */
const SPREAD_MS = 1500;
/** Between two looks at the chosen sandbox, and at one that nobody looks at. */
const LOOK_MS = { chosen: 5000, other: 15_000 };

/** Measures sandboxes, and looks at what is in them. */
export interface FleetAsker {
  /** From now on these, by key. */
  set(sandboxes: ReadonlyMap<string, Pick<SandboxInfo, 'backend' | 'id'>>): void;
  /** Looks at this one at once. */
  hurry(key: string): void;
  /** Rejects with a bug; resolves when the call is given up. */
  readonly done: Promise<void>;
}

/** Asks until the call is given up. */
export function askFleet(
  backends: Backends,
  { chosen, look, intervalMs, pace = 1 }: AskOptions,
  tell: (event: FleetEvent) => void,
  call: Call,
): FleetAsker {
  const poller = createPoller(POLL, call);
  let count = 0;
  const spread = (least: number) => Math.max(least, count * SPREAD_MS * pace);
  const job = (
    key: string,
    on: Question,
    everyMs: () => number,
    ask: (call: Call) => Promise<FleetEvent | undefined>,
  ): Job => ({
    everyMs,
    async ask(own) {
      try {
        const event = await ask(own);
        if (event !== undefined && !own.signal.aborted) tell(event);
      } catch (error) {
        if (own.signal.aborted) return;
        if (!(error instanceof SbxError)) throw error;
        tell({ type: 'silent', key, on, error });
      }
    },
  });
  return {
    done: poller.done,
    hurry: (key) => poller.hurry(`look ${key}`),
    set(sandboxes) {
      count = sandboxes.size;
      const jobs = new Map<string, Job>();
      for (const [key, { backend, id }] of sandboxes) {
        const open = once(async (own) => (await backends.get(backend)).get(id, own));
        const every = (usual: number, eager: number) => () => (key === chosen() ? eager : spread(usual));
        jobs.set(
          `stats ${key}`,
          job(key, 'stats', every(2 * intervalMs, intervalMs), measuring(open, key, backends)),
        );
        if (!look) continue;
        jobs.set(
          `look ${key}`,
          job(key, 'look', every(LOOK_MS.other * pace, LOOK_MS.chosen * pace), async (own) => ({
            type: 'looked',
            key,
            look: await lookAt(await open(own), own),
          })),
        );
      }
      poller.set(jobs);
    },
  };
}

/** A handle stays valid; a failure is not kept. */
function once(open: (call: Call) => Promise<Sandbox>): (call: Call) => Promise<Sandbox> {
  let opened: Promise<Sandbox> | undefined;
  return (call) => {
    opened ??= open(call).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
}

function measuring(open: (call: Call) => Promise<Sandbox>, key: string, backends: Backends) {
  const sampler = statsSampler(backends.having);
  return async (call: Call): Promise<FleetEvent | undefined> => {
    const sandbox = await open(call);
    if (sandbox.can.stats === undefined) return undefined;
    return { type: 'measured', key, row: await sampler(sandbox, call) };
  };
}

/** Sessions and ports, as far as the sandbox can tell. */
export async function lookAt(sandbox: Sandbox, call: Call): Promise<Look> {
  const [sessions, ports] = await Promise.all([
    whereAble(sandbox.can.sessions?.list(call)),
    whereAble(sandbox.can.ports?.list(call)),
  ]);
  return { sessions, ports };
}

/** Whether one without a shell is able to is known only when it is asked. */
async function whereAble<T>(asked: Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof SbxError && error.code === 'unsupported') return undefined;
    throw error;
  }
}
