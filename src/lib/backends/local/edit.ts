/** Changes of what is known of a sandbox. */
import type { Call } from '../../backend/contract.ts';
import { changingRecord } from './change.ts';
import type { Local } from './context.ts';
import { sandboxLayout } from './layout.ts';
import { writeRecord } from './record.ts';
import { releaseName, takeName } from './store.ts';

type Ref = { readonly id: string; readonly name: string };

/** Gives the sandbox another name; both are its own for a moment, so that it always has one. */
export async function rename(local: Local, sandbox: Ref, name: string, call: Call): Promise<void> {
  await changingRecord(local, sandbox, 'rename', call, async (record) => {
    if (record.name === name) return;
    const path = sandboxLayout(local.layout, record.id).record;
    // Whoever finds the record knows which of the two names is to go.
    writeRecord(path, { ...record, otherName: name });
    try {
      await takeName(local.layout, name, record.id, call, local.name);
    } catch (error) {
      writeRecord(path, record);
      throw error;
    }
    writeRecord(path, { ...record, name, otherName: record.name });
    releaseName(local.layout, record.name, record.id);
    writeRecord(path, { ...record, name });
  });
}

/** Sets and unsets (`null`) variables for all later commands. */
export async function updateEnv(
  local: Local,
  sandbox: Ref,
  changes: Readonly<Record<string, string | null>>,
  call: Call,
): Promise<void> {
  await changingRecord(local, sandbox, 'env', call, async (record) => {
    const env = new Map(Object.entries(record.env));
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) env.delete(name);
      else env.set(name, value);
    }
    writeRecord(sandboxLayout(local.layout, record.id).record, { ...record, env: Object.fromEntries(env) });
  });
}
