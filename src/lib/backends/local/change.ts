/** Changing a sandbox: one client at a time, and what a killed client left half done is finished by the next one. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import type { Call } from '../../backend/contract.ts';
import { hasErrno, SbxError } from '../../errors.ts';
import { fileError } from '../../store/file-error.ts';
import { acquireLock, tryLock } from '../../store/lock.ts';
import type { Local } from './context.ts';
import { sandboxLayout } from './layout.ts';
import { readRecord, type SandboxRecord } from './record.ts';

/**
 * Runs `change` as the only one that changes sandbox `id`. The lock's file doubles as the mark of a change that is
 * under way: it goes away with the change, and stays when the client is killed.
 */
export async function changing<T>(
  local: Local,
  id: string,
  purpose: string,
  call: Call,
  change: () => Promise<T>,
): Promise<T> {
  const path = join(local.layout.pending, id);
  using lock = await acquireLock(path, call, { purpose });
  let result: T;
  try {
    result = await change();
  } catch (error) {
    throw diskError(error, join(local.layout.sandboxes, id));
  }
  fs.rmSync(lock.path, { force: true });
  return result;
}

/** What a disk that is full, read-only or not ours says is no bug: an error that names the path; others stay as they are. */
function diskError(error: unknown, folder: string): unknown {
  if (!hasErrno(error, 'ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE')) return error;
  return fileError('cannot write', error.path ?? folder, error);
}

/** {@link changing} with the sandbox's present record, repaired first. `not_found` when it is gone. */
export async function changingRecord<T>(
  local: Local,
  sandbox: { readonly id: string; readonly name: string },
  purpose: string,
  call: Call,
  change: (record: SandboxRecord) => Promise<T>,
): Promise<T> {
  return changing(local, sandbox.id, purpose, call, async () => {
    const { repair } = await import('./repair.ts');
    await repair(local, sandbox.id);
    const record = readRecord(sandboxLayout(local.layout, sandbox.id).record);
    if (record === undefined)
      throw new SbxError('not_found', `sandbox '${sandbox.name}' is gone`, {
        backend: local.name,
        hint: 'sbx ls --all',
      });
    return change(record);
  });
}

/** Finishes every change that nobody works on any more; cheap when there is none. Returns the ids it dealt with. */
export async function recover(local: Local): Promise<string[]> {
  let ids: string[];
  try {
    ids = fs.readdirSync(local.layout.pending);
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return [];
    throw fileError('cannot read', local.layout.pending, error);
  }
  const repaired: string[] = [];
  for (const id of ids) {
    try {
      if (await recoverOne(local, id)) repaired.push(id);
    } catch (error) {
      // One that cannot be repaired must not keep anybody from the others.
      if (!(error instanceof SbxError)) throw error;
      local.notice(`what was cut short in sandbox ${id} cannot be finished: ${error.message}`);
    }
  }
  return repaired;
}

/** Finishes the change of sandbox `id` if nobody works on it any more; the cost is one look when there is none. */
export async function recoverOne(local: Local, id: string): Promise<boolean> {
  const path = join(local.layout.pending, id);
  if (!fs.existsSync(path)) return false;
  using lock = await tryLock(path);
  if (lock === undefined) return false;
  const { removeHalfSnapshots, repair } = await import('./repair.ts');
  await repair(local, id);
  await removeHalfSnapshots(local);
  fs.rmSync(lock.path, { force: true });
  return true;
}
