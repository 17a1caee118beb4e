/** Removing sandboxes: first finds out what that would hit, so that the caller can ask; then does it. */
import type { Call, Sandbox } from '../backend/contract.ts';
import { SbxError } from '../errors.ts';
import { type Outcome, onEach } from './each.ts';
import { listSandboxes } from './list.ts';
import type { ResolveContext } from './resolve-sandbox.ts';

/** What would be removed. */
export interface Removal {
  readonly sandbox: Sandbox;
  /** Whether processes in it would end. */
  readonly running: boolean;
}

/** Which sandboxes to remove. */
export interface RemovalQuery {
  /** Names; none: the obvious one. */
  readonly names: readonly string[];
  /** All of the chosen backend. */
  readonly all: boolean;
}

/** Finds what is meant. A name that is not there is an outcome with an error. */
export async function findRemovals(
  context: ResolveContext,
  { names, all }: RemovalQuery,
  call: Call,
): Promise<Outcome<Removal>[]> {
  if (all) return findAll(context, call);
  return onEach(
    context,
    names,
    { verb: 'rm', states: ['running', 'paused', 'stopped', 'failed'] },
    async (sandbox) => ({ sandbox, running: isLive((await sandbox.info(call)).state) }),
    call,
  );
}

async function findAll(context: ResolveContext, call: Call): Promise<Outcome<Removal>[]> {
  const backends = await context.backends();
  const backend = await backends.get(context.settings.backend);
  const { sandboxes, failures } = await listSandboxes(
    backends,
    { all: true, backends: [backend.name] },
    call,
  );
  const [failure] = failures;
  if (failure !== undefined) throw failure.error;
  return Promise.all(
    sandboxes.map(async (info) => ({
      name: info.name,
      value: { sandbox: await backend.get(info.id, call), running: isLive(info.state) },
    })),
  );
}

function isLive(state: string): boolean {
  return state === 'running' || state === 'paused' || state === 'creating';
}

/**
 * Removes what was found. Those that ran then are removed although they run; one that was started since is only with
 * `force`, with which one that is gone is no error either: its outcome has no value.
 */
export async function removeEach(
  context: ResolveContext,
  found: readonly Outcome<Removal>[],
  { force }: { readonly force: boolean },
  call: Call,
): Promise<Outcome<Sandbox | undefined>[]> {
  const backends = await context.backends();
  return Promise.all(
    found.map(async ({ name, value, error }): Promise<Outcome<Sandbox | undefined>> => {
      if (value === undefined)
        return force && error?.code === 'not_found'
          ? { name, value: undefined }
          : { name, error: error ?? gone(name) };
      const { sandbox, running } = value;
      try {
        const backend = await backends.get(sandbox.backend);
        await backend.destroy(sandbox.id, { force: force || running }, call);
        return { name, value: sandbox };
      } catch (failure) {
        if (!(failure instanceof SbxError) || call.signal.aborted) throw failure;
        return { name, error: failure };
      }
    }),
  );
}

function gone(name: string): SbxError {
  return new SbxError('not_found', `there is no sandbox '${name}'`);
}
