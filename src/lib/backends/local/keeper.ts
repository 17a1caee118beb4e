/** Starts a sandbox without walls: its folders, and a process that stands for it while it runs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { Call } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { onlyThese } from './inherited.ts';
import { currentBootId, removeInit, startTicksOf, writeInit } from './init-process.ts';
import script from './keeper.sh';
import { type Layout, sandboxLayout } from './layout.ts';
import { MARK } from './marked.ts';
import type { SandboxRecord } from './record.ts';
import { killPid } from './shut-down.ts';
import { HELPER, SYSTEM_ENV } from './system.ts';

/** Call with the sandbox's lock held. Rejects with nothing of it running. */
export async function startKeeper(layout: Layout, record: SandboxRecord, call: Call): Promise<void> {
  const files = sandboxLayout(layout, record.id);
  for (const folder of [files.home, files.guest]) fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const child = spawn('/bin/sh', ['-c', 'eval "$SBX_KEEPER"', 'sbx-keeper', join(files.folder, '.keeper')], {
    ...HELPER,
    env: { ...SYSTEM_ENV, SBX_KEEPER: script, [MARK]: record.id },
    stdio: onlyThese(['ignore', 'ignore', 'ignore', 'pipe']),
  });
  child.unref();
  const control = child.stdio[3] as Duplex;
  // It may be ended with our last word unread; that it is gone is found out in other ways.
  control.on('error', () => control.destroy());
  try {
    await once(control, 'data', { signal: call.signal });
    const { pid } = child;
    const startTicks = pid === undefined ? undefined : startTicksOf(pid);
    if (pid === undefined || startTicks === undefined) throw new Error('it has ended');
    writeInit(files.init, {
      ...{ pid, startTicks, bootId: currentBootId(), startedAt: new Date().toISOString() },
      ...{ mark: record.id, network: 'host', base: '', keepsGroups: false, emptyParts: [], cgroups: [] },
      ...{ paused: false, helpers: [] },
    });
    control.write('go\n');
  } catch (cause) {
    if (child.pid !== undefined) killPid(child.pid);
    removeInit(files.init);
    if (cause instanceof SbxError) throw cause;
    throw call.signal.aborted
      ? new SbxError('interrupted', 'interrupted', { cause })
      : new SbxError('failed', `cannot start the sandbox: ${(cause as Error).message}`, { cause });
  } finally {
    control.end();
  }
}
