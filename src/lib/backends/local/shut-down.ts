/** Ending what runs: the processes of a sandbox, and the helpers of this machine that belong to it. */
import * as fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasErrno, SbxError } from '../../errors.ts';
import { killInCgroups, possibleCgroups, removeCgroups, systemCgroups } from './cgroup.ts';
import { type InitProcess, isAlive, type ProcessMark, readLastInit, removeInit } from './init-process.ts';
import { type Layout, type SandboxLayout, sandboxLayout } from './layout.ts';
import { killMarked } from './marked.ts';
import { processesOf, signalProcesses } from './processes-of.ts';
import { straysOf } from './strays.ts';
import { thaw } from './suspend.ts';
import { readUnsettled, settle, tryMarkUnsettled } from './unsettled.ts';

const LOOK_MS = 2;
const BUSY_LOOKS = 2000;

/** Init itself, and in a namespace of its own the sleep that it starts again when TERM has ended the first. */
function idleProcesses(init: InitProcess): number {
  return init.mark === undefined ? 2 : 1;
}

/** Ends every process of sandbox `id`: TERM, and KILL after `graceMs`. Not running is no error. */
export async function shutDown(layout: Layout, id: string, graceMs: number): Promise<void> {
  const files = sandboxLayout(layout, id);
  const init = await lastInit(files.init, id);
  const unsettled = readUnsettled(files.unsettled);
  if (init === undefined && unsettled === undefined && !fs.existsSync(files.init)) return;
  if (init !== undefined && isAlive(init)) {
    if (graceMs > 0 && signalProcesses(init, 'SIGTERM') > 0) {
      if (init.paused) thaw(id, init);
      const end = performance.now() + graceMs;
      while (performance.now() < end && isAlive(init) && processesOf(init).length > idleProcesses(init))
        await sleep(LOOK_MS);
    }
    if (unsettled === undefined) tryMarkUnsettled(files.unsettled, init.cgroups);
    // When init is killed the kernel kills all others. A frozen one would not die, and one whose client was killed while
    // it took a snapshot is frozen without being paused.
    killInit(init);
    thaw(id, init);
    while (isAlive(init)) await sleep(LOOK_MS);
  }
  if (init?.mark !== undefined) await killMarked(init.mark);
  for (const helper of init?.helpers ?? []) killHelper(helper);
  killUnnamedNetwork(files);
  const cgroups = [...(init?.cgroups ?? []), ...(unsettled ?? []), ...possibleCgroups(systemCgroups(), id)];
  await endCgroups([...new Set(cgroups)]);
  // Last: it is what tells the next one what there is to end.
  removeInit(files.init);
  settle(files.unsettled);
}

/** The last init process; one that cannot be known is looked for, and its processes are ended at once. */
async function lastInit(path: string, id: string): Promise<InitProcess | undefined> {
  try {
    return readLastInit(path);
  } catch (error) {
    if (!(error instanceof SbxError)) throw error;
    for (const pid of straysOf(id)) killPid(pid);
    await killMarked(id);
    return undefined;
  }
}

/** Kills a process if it still is that one. */
function killInit(mark: ProcessMark): void {
  if (isAlive(mark)) killPid(mark.pid);
}

/** Kills a helper with what it has started: a shell's `sleep` would outlive it. */
export function killHelper(mark: ProcessMark): void {
  if (!isAlive(mark)) return;
  killPid(-mark.pid);
  killPid(mark.pid);
}

/** A negative `pid` is a process group. Gone is no error. */
export function killPid(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!hasErrno(error, 'ESRCH')) throw error;
  }
}

/** The network's helper of a start that was cut short before the init file named it. */
function killUnnamedNetwork(files: SandboxLayout): void {
  try {
    const pid = Number(fs.readFileSync(files.networkPid, 'utf8').trim());
    // The pid may be somebody else's by now; the helper's own arguments or variables name our folder.
    if (pid > 1 && mentions(pid, files.folder)) killPid(pid);
    fs.rmSync(files.networkPid, { force: true });
  } catch (error) {
    if (!hasErrno(error, 'ENOENT')) throw error;
  }
}

function mentions(pid: number, text: string): boolean {
  return ['cmdline', 'environ'].some((name) => {
    try {
      return fs.readFileSync(`/proc/${pid}/${name}`, 'latin1').includes(text);
    } catch (error) {
      if (hasErrno(error, 'ENOENT', 'ESRCH', 'EACCES', 'EPERM')) return false;
      throw error;
    }
  });
}

async function endCgroups(folders: readonly string[]): Promise<void> {
  let left = removeCgroups(folders);
  for (let looks = 0; left.length > 0 && looks < BUSY_LOOKS; looks++) {
    killInCgroups(left);
    await sleep(LOOK_MS);
    left = removeCgroups(left);
  }
}
