/** The log of a process, followed past its end where a new process of the same name takes its place. */
import type { Call, LogChunk, LogOptions, ProcessInfo, Sandbox } from '../backend/contract.ts';
import { type CapabilityIndex, need } from '../backend/need.ts';
import { byStart } from '../backend/pick-process.ts';
import { SbxError } from '../errors.ts';
import { parseDuration } from '../util/duration.ts';
import { pause } from '../util/pause.ts';
import { type AskForProcess, chooseProcess, everyProcess } from './processes.ts';

/** What to read. */
export interface LogRequest extends LogOptions {
  /** Id or name; default: the main process, else the only one. */
  readonly process?: string | undefined;
}

/** What reading needs of the world. */
export interface LogWorld {
  readonly having: CapabilityIndex;
  /** The sandbox as it is now, for it may have been stopped and started. */
  reopen(): Promise<Sandbox>;
  /** Chooses where none is named and there are several. */
  readonly ask?: AskForProcess;
}

/** A piece of a log and whose it is. */
export interface LogPiece extends LogChunk {
  readonly process: ProcessInfo;
}

const LOOK_MS = 200;
/** A process that was ended by a signal, or unseen, may be one of a sandbox that is just being stopped. */
const SIGNAL_GRACE_MS = 1000;
const RESTART_GRACE_MS = 10_000;

/**
 * Streams the log in bounded memory. Following ends when the process has ended, unless one of the same name comes after
 * it: then its log follows, from its start. For that a sandbox that stops is given some seconds to run again.
 */
export async function* readLogs(
  sandbox: Sandbox,
  request: LogRequest,
  world: LogWorld,
  call: Call,
): AsyncGenerator<LogPiece, void, void> {
  let processes = need(sandbox, 'processes', world.having);
  let current = await chooseProcess(sandbox, processes, request.process, call, world.ask);
  let options: LogOptions = request;
  const seen = new Set<string>();
  for (;;) {
    seen.add(current.id);
    for await (const chunk of processes.logs(current.id, options, call)) yield { ...chunk, process: current };
    if (!request.follow || current.name === undefined || current.state !== 'running') return;
    if (request.until !== undefined && Date.now() > request.until) return;
    const next = await successor(current, seen, world, call);
    if (next === undefined) return;
    processes = need(next.sandbox, 'processes', world.having);
    current = next.process;
    options = { follow: true, until: request.until };
  }
}

interface Successor {
  readonly sandbox: Sandbox;
  readonly process: ProcessInfo;
}

async function successor(
  ended: ProcessInfo,
  seen: ReadonlySet<string>,
  world: LogWorld,
  call: Call,
): Promise<Successor | undefined> {
  const since = performance.now();
  for (;;) {
    if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted while following a log');
    const look = await lookAround(ended, seen, world, call);
    if (look === undefined || 'process' in look) return look;
    if (performance.now() - since >= look.graceMs) return undefined;
    await pause(LOOK_MS, call.signal);
  }
}

async function lookAround(
  ended: ProcessInfo,
  seen: ReadonlySet<string>,
  world: LogWorld,
  call: Call,
): Promise<Successor | { readonly graceMs: number } | undefined> {
  try {
    const sandbox = await world.reopen();
    if ((await sandbox.info(call)).state !== 'running') return { graceMs: RESTART_GRACE_MS };
    const all = await everyProcess(need(sandbox, 'processes', world.having), call);
    all.sort(byStart);
    const place = all.findIndex(({ id }) => id === ended.id);
    const process = all.find(({ id, name }, at) => at > place && name === ended.name && !seen.has(id));
    if (process !== undefined) return { sandbox, process };
    const exit = all.find(({ id }) => id === ended.id)?.exit;
    return { graceMs: exit !== undefined && 'code' in exit ? 0 : SIGNAL_GRACE_MS };
  } catch (error) {
    if (error instanceof SbxError && error.code === 'not_found') return undefined;
    // It was stopped between two of these steps.
    if (error instanceof SbxError && error.code === 'conflict') return { graceMs: RESTART_GRACE_MS };
    throw error;
  }
}

const DATE = /^\d{4}-\d{2}-\d{2}([T ]|$)/;

/** Reads `10m` (that long before `now`) or an ISO 8601 time. @returns epoch milliseconds. @throws SbxError `usage` */
export function parseMoment(text: string, now: Date, flag: string): number {
  if (DATE.test(text)) {
    const time = Date.parse(text);
    if (!Number.isNaN(time)) return time;
  } else if (/^\d/.test(text)) {
    return now.getTime() - parseDuration(text);
  }
  throw new SbxError('usage', `${flag}: not a time: ${text || '(empty)'}`, {
    hint: 'write how long ago, such as 10m, or a time such as 2026-01-31T12:00:00Z',
  });
}
