/** All sandboxes with what they use and have, once. */
import type { Call, SandboxInfo } from '../../backend/contract.ts';
import type { Backends } from '../../backend/registry.ts';
import { SbxError } from '../../errors.ts';
import { type BackendFailure, type ListOptions, listSandboxes } from '../list.ts';
import { measure, type StatsRow } from '../stats.ts';
import { type Look, lookAt } from './watch-fleet.ts';

/** One sandbox. What it uses and has is absent when it does not run, or its backend cannot tell. */
export interface TopRow extends Look {
  readonly sandbox: SandboxInfo;
  readonly stats?: StatsRow | undefined;
  /** Why it could not be asked. */
  readonly error?: string | undefined;
}

/** Sandboxes asked at a time. */
const MOST = 4;

/** Asks each that runs. One that cannot be asked has its error in its row; backends that fail are told apart. */
export async function topTable(
  backends: Backends,
  options: ListOptions,
  call: Call,
): Promise<{ readonly rows: readonly TopRow[]; readonly failures: readonly BackendFailure[] }> {
  const { sandboxes, failures } = await listSandboxes(backends, options, call);
  const rows: TopRow[] = [];
  let next = 0;
  const work = async () => {
    for (let at = next++; at < sandboxes.length; at = next++) {
      const info = sandboxes[at];
      if (info !== undefined) rows[at] = await rowOf(backends, info, call);
    }
  };
  await Promise.all(Array.from({ length: MOST }, work));
  return { rows, failures };
}

async function rowOf(backends: Backends, info: SandboxInfo, call: Call): Promise<TopRow> {
  if (info.state !== 'running') return { sandbox: info };
  try {
    const sandbox = await (await backends.get(info.backend)).get(info.id, call);
    const [stats, look] = await Promise.all([
      sandbox.can.stats === undefined ? undefined : measure(sandbox, backends.having, call),
      lookAt(sandbox, call),
    ]);
    return { sandbox: info, stats, ...look };
  } catch (error) {
    if (!(error instanceof SbxError) || call.signal.aborted) throw error;
    return { sandbox: info, error: error.message };
  }
}
