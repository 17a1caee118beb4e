/** How many sandboxes there are on each backend. */
import type { Call, SandboxState } from '../backend/contract.ts';
import type { Backends } from '../backend/registry.ts';
import { SbxError } from '../errors.ts';

/** Sandboxes in use on a backend. */
export interface QuotaRow {
  readonly backend: string;
  /** Being made, running or paused: those that count against a limit. */
  readonly used: number;
  /** All, stopped ones included. */
  readonly total: number;
}

/** A backend that could not be asked. */
export interface QuotaFailure {
  readonly backend: string;
  readonly error: SbxError;
}

/** Counts on the named backends at the same time; one that fails does not stop the others. Rejects only when interrupted. */
export async function quota(
  backends: Backends,
  names: readonly string[],
  call: Call,
): Promise<{ readonly rows: readonly QuotaRow[]; readonly failures: readonly QuotaFailure[] }> {
  const rows: QuotaRow[] = [];
  const failures: QuotaFailure[] = [];
  await Promise.all(
    names.map(async (name) => {
      try {
        rows.push(await count(backends, name, call));
      } catch (error) {
        if (!(error instanceof SbxError) || error.code === 'interrupted' || call.signal.aborted) throw error;
        failures.push({ backend: name, error });
      }
    }),
  );
  const order = ({ backend }: { readonly backend: string }) => names.indexOf(backend);
  return {
    rows: rows.sort((a, b) => order(a) - order(b)),
    failures: failures.sort((a, b) => order(a) - order(b)),
  };
}

const IN_USE: ReadonlySet<SandboxState> = new Set(['creating', 'running', 'paused']);

async function count(backends: Backends, name: string, call: Call): Promise<QuotaRow> {
  const backend = await backends.get(name);
  let used = 0;
  let total = 0;
  for await (const { state } of backend.list({ all: true }, call)) {
    total++;
    if (IN_USE.has(state)) used++;
  }
  return { backend: name, used, total };
}
