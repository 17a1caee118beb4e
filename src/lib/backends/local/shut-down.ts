/** Ending what runs: the processes of a sandbox, and the helpers of this machine that belong to it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { hasErrno } from '../../errors.ts';
import { removeCgroups } from './cgroup.ts';
import { type InitProcess, isAlive, type ProcessMark, readLastInit, removeInit } from './init-process.ts';
import { processesOf, signalProcesses } from './processes-of.ts';
import { thaw } from './suspend.ts';

const LOOK_MS = 2;
const BUSY_LOOKS = 2000;
/** Init itself, and the sleep that it starts again when TERM has ended the first. */
const IDLE_PROCESSES = 2;

/** Ends every process of the sandbox whose init file is at `path`: TERM, and KILL after `graceMs`. Not running is no error. */
export async function shutDown(path: string, graceMs: number): Promise<void> {
  const init = readLastInit(path);
  if (init === undefined) {
    removeInit(path);
    return;
  }
  if (isAlive(init)) {
    if (graceMs > 0 && signalProcesses(init.pid, 'SIGTERM') > 0) {
      if (init.paused) thaw(init);
      const end = performance.now() + graceMs;
      while (performance.now() < end && isAlive(init) && processesOf(init.pid).length > IDLE_PROCESSES)
        await sleep(LOOK_MS);
    }
    // When init is killed the kernel kills all others; a frozen one would not die.
    killMarked(init);
    if (init.paused) thaw(init);
    while (isAlive(init)) await sleep(LOOK_MS);
  }
  endHelpers(path, init);
  await removeEmptyCgroups(init.cgroups);
}

/** Ends the helpers of a sandbox whose init has ended, and forgets it. */
export function endHelpers(path: string, init: InitProcess): void {
  for (const helper of init.helpers) killMarked(helper);
  removeInit(path);
}

/** Kills a process if it still is the marked one. */
export function killMarked(mark: ProcessMark): void {
  if (!isAlive(mark)) return;
  try {
    process.kill(mark.pid, 'SIGKILL');
  } catch (error) {
    if (!hasErrno(error, 'ESRCH')) throw error;
  }
}

async function removeEmptyCgroups(folders: readonly string[]): Promise<void> {
  let left = removeCgroups(folders);
  for (let looks = 0; left.length > 0 && looks < BUSY_LOOKS; looks++) {
    await sleep(LOOK_MS);
    left = removeCgroups(left);
  }
}
