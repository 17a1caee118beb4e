/** How a session ended that was attached to: by itself, or because its sandbox was stopped or removed. */
import type { Exit, Sandbox, Sessions } from '../backend/contract.ts';
import { SbxError } from '../errors.ts';
import { pause } from '../util/pause.ts';

/** Milliseconds that a sandbox which is being stopped may take until it says so: its processes are given 10 s to end. */
const STOP_DUE = 12_000;
/** Milliseconds that the end of one may take whose processes have ended. */
const END_DUE = 1000;
/** Milliseconds between looks at it. */
const LOOK = 100;

/** Its shell's exit, or why there is none. */
export type SessionEnd = { readonly exit: Exit } | { readonly error: unknown };

/** Finds out. @param exit what the channel said, if it did */
export async function endOfSession(
  sandbox: Sandbox,
  sessions: Sessions,
  session: string,
  exit: Exit | undefined,
  signal: AbortSignal,
): Promise<SessionEnd> {
  let known = exit;
  let cause: unknown;
  try {
    known ??= await exitOf(sessions, session, signal);
  } catch (error) {
    cause = error;
  }
  if (known !== undefined && 'code' in known) return { exit: known };
  // A shell that a signal has ended may have been told to by the stop of its sandbox; one of which nothing is known was.
  const error = await stopOf(sandbox, known === undefined ? STOP_DUE : 0, signal);
  if (error !== undefined) return { error };
  if (known !== undefined) return { exit: known };
  const hint = `begin anew: sbx shell ${sandbox.name}`;
  return { error: new SbxError('failed', 'it ended, and how is not known', { hint, cause }) };
}

/** Why a lost connection cannot be had again: that the sandbox was stopped or removed, where that is why. */
export async function whyLost(sandbox: Sandbox, error: unknown, signal: AbortSignal): Promise<unknown> {
  const code = error instanceof SbxError ? error.code : undefined;
  // What cannot be entered any more may not have come to its end yet.
  const due = { conflict: 0, not_found: 0, failed: END_DUE }[code as string];
  return (due === undefined ? undefined : await stopOf(sandbox, due, signal)) ?? error;
}

/** How the session's shell ended, where that is known. */
export async function exitOf(
  sessions: Sessions,
  session: string,
  signal: AbortSignal,
): Promise<Exit | undefined> {
  return (await sessions.list({ signal })).find(({ name }) => name === session)?.exit;
}

/** That the sandbox was stopped or removed, once it says so within `dueMs`; undefined when it runs on. */
async function stopOf(sandbox: Sandbox, dueMs: number, signal: AbortSignal): Promise<unknown> {
  const end = Date.now() + dueMs;
  let wasStopped = false;
  for (;;) {
    try {
      const { state } = await sandbox.info({ signal });
      const isResting = state !== 'running' && state !== 'creating';
      // One that is removed stops first.
      if (isResting && (wasStopped || state === 'paused')) return restingNow(sandbox.name, state);
      wasStopped = isResting;
    } catch (error) {
      const isGone = error instanceof SbxError && error.code === 'not_found';
      return isGone ? removed(sandbox.name, error) : error;
    }
    if (signal.aborted || (!wasStopped && Date.now() >= end)) return undefined;
    await pause(LOOK, signal);
  }
}

function restingNow(name: string, state: string): SbxError {
  return new SbxError('conflict', `sandbox '${name}' ${state === 'failed' ? 'has failed' : `was ${state}`}`, {
    hint: state === 'paused' ? `resume it: sbx resume ${name}` : `start it: sbx start ${name}`,
  });
}

function removed(name: string, cause: SbxError): SbxError {
  return new SbxError('not_found', `sandbox '${name}' was removed`, { hint: 'sbx ls --all', cause });
}
