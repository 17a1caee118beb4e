/**
 * Background processes and the main one. Kept inside by guest programs; where the sandbox is stopped, their records are read
 * through the engine. Of a container that sbx did not make, process 1 is the main one, and the engine keeps its log.
 */
import type { Call, Processes, Sandbox } from '../../backend/contract.ts';
import { lazyProcesses } from '../../backend/derived/index.ts';
import { SbxError } from '../../errors.ts';
import type { Box } from './box.ts';
import { foreignMain } from './foreign-main.ts';
import { stateOf } from './power.ts';
import type { Records } from './process-records.ts';

/** The capability `processes`. */
export function processesOf(box: Box, sandbox: Sandbox): Processes {
  const inside = lazyProcesses(sandbox);
  const main = box.facts === undefined ? foreignMain(box) : undefined;
  return {
    start: inside.start,
    async *list(call) {
      if (main === undefined) {
        yield* eitherWay(box, inside, undefined, (processes) => processes.list(call), call);
        return;
      }
      yield await main.info(call);
      try {
        yield* eitherWay(box, inside, undefined, (processes) => processes.list(call), call);
      } catch (error) {
        // Without a shell there are no others.
        if (!(error instanceof SbxError) || error.code !== 'unsupported') throw error;
      }
    },
    async kill(ref, signal, call) {
      if (main?.is(ref)) await main.kill(signal, call);
      else await inside.kill(ref, signal, call);
    },
    async *logs(ref, options, call) {
      if (main?.is(ref)) yield* main.logs(options, call);
      else yield* eitherWay(box, inside, ref, (processes) => processes.logs(ref, options, call), call);
    },
  };
}

/** Asks inside, else the records of a sandbox that has stopped. @param ref the only process whose log is wanted. */
async function* eitherWay<T>(
  box: Box,
  inside: Records,
  ref: string | undefined,
  ask: (processes: Records) => AsyncIterable<T>,
  call: Call,
): AsyncGenerator<T, void, void> {
  let begun = false;
  try {
    for await (const each of ask(inside)) {
      begun = true;
      yield each;
    }
  } catch (error) {
    // Engines refuse in words of their own what wants one that runs.
    if (begun || !(error instanceof SbxError) || call.signal.aborted) throw error;
    const { Running } = await stateOf(box, call);
    if (Running === true) throw error;
    const { withRecords } = await import('./process-records.ts');
    yield* withRecords(box, ref, ask, call);
  }
}
