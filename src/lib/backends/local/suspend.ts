/** Freezes and thaws all processes of a sandbox: with the cgroup freezer, else by stopping them one by one. */
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { freezerOf } from './cgroup.ts';
import type { InitProcess } from './init-process.ts';
import { stateOf } from './process-state.ts';
import { processesOf, signalProcesses } from './processes-of.ts';

const PATIENCE_MS = 10_000;
const LOOK_MS = 2;

/** Resolves once nothing in the sandbox runs any more. */
export async function freeze(init: InitProcess, call: Call): Promise<void> {
  const freezer = freezerOf(init.cgroups);
  try {
    if (freezer !== undefined) {
      writeFileSync(freezer.file, freezer.freeze);
      await until(freezer.frozen, call);
      return;
    }
    // What was born between the look and the signal is caught by the next round.
    await until(() => {
      signalProcesses(init.pid, 'SIGSTOP');
      return processesOf(init.pid).every(
        (pid) => pid === init.pid || ['T', 'Z', 't', 'X', undefined].includes(stateOf(pid)),
      );
    }, call);
  } catch (error) {
    thaw(init);
    throw error;
  }
}

/** Lets everything run again. */
export function thaw(init: InitProcess): void {
  const freezer = freezerOf(init.cgroups);
  if (freezer !== undefined) writeFileSync(freezer.file, freezer.thaw);
  else signalProcesses(init.pid, 'SIGCONT');
}

async function until(done: () => boolean, call: Call): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!done()) {
    if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
    if (performance.now() > end)
      throw new SbxError('timeout', 'the processes of the sandbox did not come to rest in time');
    await sleep(LOOK_MS);
  }
}
