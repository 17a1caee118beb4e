import type { Call } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { changingRecord } from './change.ts';
import type { Local } from './context.ts';
import { type InitProcess, readInit, writeInit } from './init-process.ts';
import { sandboxLayout } from './layout.ts';
import { freeze, thaw } from './suspend.ts';

type Ref = { readonly id: string; readonly name: string };

/** Freezes all processes; paused already is no error. `conflict` when it does not run. */
export async function pause(local: Local, sandbox: Ref, call: Call): Promise<void> {
  await change(local, sandbox, 'pause', call, async (init, path) => {
    if (init.paused) return;
    await freeze(sandbox.id, init, call);
    writeInit(path, { ...init, paused: true });
  });
}

/** Lets them run again; running already is no error. */
export async function resume(local: Local, sandbox: Ref, call: Call): Promise<void> {
  await change(local, sandbox, 'resume', call, async (init, path) => {
    if (!init.paused) return;
    thaw(sandbox.id, init);
    writeInit(path, { ...init, paused: false });
  });
}

async function change(
  local: Local,
  sandbox: Ref,
  purpose: string,
  call: Call,
  act: (init: InitProcess, path: string) => Promise<void>,
): Promise<void> {
  await changingRecord(local, sandbox, purpose, call, async (record) => {
    const path = sandboxLayout(local.layout, record.id).init;
    const init = readInit(path);
    if (init === undefined) {
      throw new SbxError('conflict', `sandbox '${record.name}' is not running`, {
        backend: local.name,
        hint: `start it: sbx start ${record.name}`,
      });
    }
    await act(init, path);
  });
}
