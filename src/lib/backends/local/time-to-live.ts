/** `--ttl`: a tiny process of this machine, out of the sandbox's reach, ends the sandbox in time; the next sbx command removes it. */
import { spawn } from 'node:child_process';
import type { Call } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { changingRecord } from './change.ts';
import type { Local } from './context.ts';
import { type InitProcess, markOf, type ProcessMark, readInit, writeInit } from './init-process.ts';
import { sandboxLayout } from './layout.ts';
import { writeRecord } from './record.ts';
import { killMarked } from './shut-down.ts';
import { HELPER } from './system.ts';
import script from './time-to-live.sh';

/** Starts the timer of a sandbox; `expiresAt` in epoch milliseconds. It belongs to the helpers of `init`. */
export function startTimer(init: InitProcess, expiresAt: number): ProcessMark {
  const seconds = Math.max(0, (expiresAt - Date.now()) / 1000).toFixed(3);
  const args = ['-c', script, 'sbx-ttl', seconds, String(init.pid), init.startTicks];
  const child = spawn('/bin/sh', args, { ...HELPER, stdio: 'ignore' });
  child.unref();
  const mark = child.pid === undefined ? undefined : markOf(child.pid);
  if (mark === undefined) throw new SbxError('failed', 'cannot start the timer of the sandbox');
  return { ...mark, role: 'timer' };
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
    const expiresAt = ms === undefined ? undefined : new Date(Date.now() + ms).toISOString();
    writeRecord(files.record, { ...record, expiresAt });
    const init = readInit(files.init);
    if (init === undefined) return expiresAt;
    const others = init.helpers.filter((helper) => helper.role !== 'timer');
    const timers = init.helpers.filter((helper) => helper.role === 'timer');
    const next = expiresAt === undefined ? others : [...others, startTimer(init, Date.parse(expiresAt))];
    writeInit(files.init, { ...init, helpers: next });
    for (const timer of timers) killMarked(timer);
    return expiresAt;
  });
}
