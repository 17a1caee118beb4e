/** Notices the end of an attached command. */
import { setTimeout as pause } from 'node:timers/promises';
import { unhurried } from '../../backend/unhurried.ts';
import { SbxError } from '../../errors.ts';
import type { InspectedExec } from './api.ts';
import { type Engine, segment } from './engine.ts';
import type { ExecOutput } from './exec-output.ts';

/**
 * How long an output is silent before the engine is asked whether the command still runs, in milliseconds; it grows to the second.
 * Engines keep the connection of a command that has ended open while something that it left behind holds its outputs: Docker
 * 20.10 for two seconds.
 */
const FIRST_LOOK_MS = 100;
const LONGEST_LOOK_MS = 1000;
/** How often, and how far apart, the engine is asked for the end of a command whose connection has ended. */
const LAST_LOOKS = 20;

/**
 * Resolves when the command has ended and its output has come or come to rest; with undefined when the engine has
 * forgotten it, as it does with those of a container that is gone. `unreachable` when the connection broke.
 */
export async function untilOver(
  engine: Engine,
  id: string,
  output: Pick<ExecOutput, 'ended' | 'received' | 'isHeld'>,
): Promise<InspectedExec | undefined> {
  let wait = FIRST_LOOK_MS;
  let seen = -1;
  let last: InspectedExec | undefined;
  for (;;) {
    if (await endsWithin(output.ended, wait)) break;
    const now = output.received();
    if (output.isHeld() || now !== seen) {
      wait = FIRST_LOOK_MS;
    } else if (last !== undefined) {
      return last;
    } else {
      const found = await inspectExec(engine, id);
      if (found === undefined) return undefined;
      if (found.Running !== true) last = found;
      wait = last === undefined ? Math.min(wait * 2, LONGEST_LOOK_MS) : FIRST_LOOK_MS;
    }
    seen = now;
  }
  const error = await output.ended;
  for (let looks = 1; ; looks++) {
    const found = await inspectExec(engine, id);
    if (found === undefined || (found.Running !== true && found.ExitCode !== null)) return found;
    if (looks === LAST_LOOKS) {
      throw new SbxError(
        'unreachable',
        'the connection to the Docker engine was lost while the command ran',
        {
          backend: engine.backend,
          hint: 'see whether it runs: sbx backend check',
          cause: error,
        },
      );
    }
    await pause(FIRST_LOOK_MS);
  }
}

/** What the engine knows of a command; undefined when it knows nothing. */
export async function inspectExec(engine: Engine, id: string): Promise<InspectedExec | undefined> {
  try {
    const path = `/exec/${segment(id)}/json`;
    return (await engine.json(
      { method: 'GET', path, what: 'see how the command ended' },
      unhurried,
    )) as InspectedExec;
  } catch (error) {
    if (error instanceof SbxError && error.code === 'not_found') return undefined;
    throw error;
  }
}

async function endsWithin(ended: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const late = pause(ms, false, { signal: timer.signal }).catch((error: unknown) => {
    if (timer.signal.aborted) return false;
    throw error;
  });
  const result = await Promise.race([ended.then(() => true), late]);
  timer.abort();
  return result;
}
