/** Freezes and thaws all processes of a sandbox: with the cgroup freezer, else by stopping them one by one. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { freezerFolders, freezerOf, makeFreezer, systemCgroups } from './cgroup.ts';
import type { InitProcess } from './init-process.ts';
import { stateOf } from './process-state.ts';
import { processesOf, signalProcesses } from './processes-of.ts';

const PATIENCE_MS = 10_000;
const LOOK_MS = 2;
/** Time enough for a write that is under way. */
const LOOKS_FOR_WAITING = 50;

/** Resolves once nothing in sandbox `id` runs any more. */
export async function freeze(id: string, init: InitProcess, call: Call): Promise<void> {
  try {
    const folder = freezerOf(init.cgroups) === undefined ? makeFreezer(systemCgroups(), id) : undefined;
    const freezer = freezerOf(folder === undefined ? init.cgroups : [folder]);
    if (freezer === undefined) {
      let looks = 0;
      await until(() => isStopped(init, ++looks > LOOKS_FOR_WAITING), call);
      return;
    }
    writeFileSync(freezer.file, freezer.freeze);
    // What is moved to a frozen cgroup freezes; children that were born meanwhile are found by the next look.
    const moved = new Set<number>();
    await until(() => (folder === undefined || moveAll(init, folder, moved) === 0) && freezer.frozen(), call);
  } catch (error) {
    thaw(id, init);
    throw error;
  }
}

/** Lets everything run again. */
export function thaw(id: string, init: InitProcess): void {
  const freezer = freezerOf([...init.cgroups, ...freezerFolders(systemCgroups(), id)]);
  if (freezer === undefined) signalProcesses(init, 'SIGCONT');
  else writeFileSync(freezer.file, freezer.thaw);
}

/** Moves the processes that are not in `moved` yet; returns how many there were. */
function moveAll(init: InitProcess, folder: string, moved: Set<number>): number {
  const fresh = processesOf(init).filter((pid) => !moved.has(pid));
  for (const pid of fresh) {
    try {
      writeFileSync(join(folder, 'cgroup.procs'), String(pid));
    } catch (error) {
      if (!hasErrno(error, 'ESRCH')) throw error;
    }
    moved.add(pid);
  }
  return fresh.length;
}

/**
 * Stops what still runs; a process that was born between the look and the signal is caught by the next round. One that
 * waits in the kernel (`D`) stops before it runs on, but may never get there: a shell waits so for a child that was
 * stopped before it became a program.
 */
function isStopped(init: InitProcess, waitingCounts: boolean): boolean {
  signalProcesses(init, 'SIGSTOP');
  const still = ['T', 't', 'Z', 'X', undefined, ...(waitingCounts ? ['D'] : [])];
  return processesOf(init).every((pid) => pid === init.pid || still.includes(stateOf(pid)));
}

async function until(done: () => boolean, call: Call): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!done()) {
    if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
    if (performance.now() > end) {
      throw new SbxError('timeout', 'the processes of the sandbox did not come to rest in time');
    }
    await sleep(LOOK_MS);
  }
}
