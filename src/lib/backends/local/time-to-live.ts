/** `--ttl`: a tiny process of this machine, out of the sandbox's reach, ends the sandbox in time; the next sbx command removes it. */
import { spawn } from 'node:child_process';
import type { Call } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { changingRecord } from './change.ts';
import type { Local } from './context.ts';
import { onlyThese } from './inherited.ts';
import { type InitProcess, isAlive, markOf, type ProcessMark, readInit, writeInit } from './init-process.ts';
import { type SandboxLayout, sandboxLayout } from './layout.ts';
import { type SandboxRecord, writeRecord } from './record.ts';
import { killHelper } from './shut-down.ts';
import { HELPER } from './system.ts';
import script from './time-to-live.sh';

interface Timer {
  readonly mark: ProcessMark;
  /** Lets it count; it ends instead if the init file does not name it by then. */
  release(): void;
}

function startTimer(path: string, init: InitProcess, until: string): Timer {
  const seconds = Math.max(0, (Date.parse(until) - Date.now()) / 1000).toFixed(3);
  const args = ['-c', script, 'sbx-ttl', seconds, String(init.pid), init.startTicks, path, init.mark ?? ''];
  const child = spawn('/bin/sh', args, {
    ...HELPER,
    stdio: onlyThese(['ignore', 'ignore', 'ignore', 'pipe']),
  });
  child.unref();
  const mark = child.pid === undefined ? undefined : markOf(child.pid);
  if (mark === undefined) throw new SbxError('failed', 'cannot start the timer of the sandbox');
  return { mark: { ...mark, role: 'timer', until }, release: () => child.stdio[3]?.destroy() };
}

/** Gives a running sandbox the timer that its record asks for, if it has another one or none. Call with its lock held. */
export function keepTime(files: SandboxLayout, { expiresAt }: Pick<SandboxRecord, 'expiresAt'>): void {
  const init = readInit(files.init);
  if (init === undefined) return;
  const others = init.helpers.filter((helper) => helper.role !== 'timer');
  const timers = init.helpers.filter((helper) => helper.role === 'timer');
  const fitting = timers.filter((timer) => timer.until === expiresAt && isAlive(timer));
  if (timers.length === fitting.length && timers.length === (expiresAt === undefined ? 0 : 1)) return;
  let kept: readonly ProcessMark[] = others;
  if (expiresAt !== undefined) {
    const timer = startTimer(files.init, init, expiresAt);
    kept = [...others, timer.mark];
    // The old one is named until it is gone, or it could end the sandbox early.
    writeInit(files.init, { ...init, helpers: [...kept, ...timers] });
    timer.release();
  }
  for (const timer of timers) killHelper(timer);
  if (timers.length > 0) writeInit(files.init, { ...init, helpers: kept });
}

/** Sets the time of expiry to `ms` from now, or to never; returns it. */
export async function extend(
  local: Local,
  sandbox: { readonly id: string; readonly name: string },
  ms: number | undefined,
  call: Call,
): Promise<string | undefined> {
  return changingRecord(local, sandbox, 'extend', call, async (record) => {
    const files = sandboxLayout(local.layout, record.id);
    const next = {
      ...record,
      expiresAt: ms === undefined ? undefined : new Date(Date.now() + ms).toISOString(),
    };
    writeRecord(files.record, next);
    keepTime(files, next);
    return next.expiresAt;
  });
}
