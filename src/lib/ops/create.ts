/** Makes a sandbox and everything that was asked to be in it; a failure half-way leaves nothing. */
import type { Backend, Call, CreateSpec, Furnish, Sandbox } from '../backend/contract.ts';
import {
  type CapabilityIndex,
  type GivenOption,
  need,
  refuseIgnoredOptions,
  refuseMissing,
} from '../backend/need.ts';
import { SbxError } from '../errors.ts';
import { cloneRepo, exitText, type PreparedRepo } from './clone-repo.ts';
import { execToEnd } from './exec-to-end.ts';
import { isConflict, withFreeName } from './free-name.ts';
import { type GitHost, locateCommit } from './host-git.ts';
import type { Progress } from './progress.ts';
import type { RepoSource } from './repo.ts';
import { type WaitCondition, waitFor } from './wait.ts';

/** What is to be made. */
export interface CreateRequest {
  readonly spec: CreateSpec;
  /** The options of `spec` that the user gave, for refusals. */
  readonly given: readonly GivenOption[];
  /** Cloned into the workdir before anything runs. */
  readonly repo?: RepoSource | undefined;
  /** Shell commands that run in order before the main command. */
  readonly setup: readonly string[];
  /** What else is put in after them. */
  readonly furnish?: Furnish | undefined;
  readonly wait: readonly WaitCondition[];
  readonly waitTimeoutMs: number;
  /** Use the one of this name if there is one. */
  readonly ifNotExists: boolean;
}

/** What making one needs besides the backend. */
export interface CreateTools {
  readonly having: CapabilityIndex;
  /** Git on this machine, for `--repo` with a local path. */
  readonly git: GitHost;
  /** Gets the steps, and what git and the setup commands print. */
  readonly progress: Progress;
}

/** The sandbox, and whether it was there already. */
export interface Created {
  readonly sandbox: Sandbox;
  readonly existed: boolean;
}

/**
 * Refuses first what the backend cannot honour; then creates, clones, sets up, starts the main command and waits.
 * Whatever fails after the creation removes the sandbox again, an interrupt included.
 */
export async function createSandbox(
  backend: Backend,
  request: CreateRequest,
  tools: CreateTools,
  call: Call,
): Promise<Created> {
  refuseIgnoredOptions(backend.manifest, backend.name, request.given);
  const { spec, ifNotExists } = request;
  if (request.wait.some(({ kind }) => kind === 'port')) refuseMissing(backend, 'ports', tools.having);
  if (request.wait.some(({ kind }) => kind === 'process')) refuseMissing(backend, 'processes', tools.having);
  const present = ifNotExists ? await existing(backend, spec.name, call) : undefined;
  if (present !== undefined) return reuse(present, request, tools, call);
  const repo = request.repo === undefined ? undefined : await prepare(request.repo, tools.git, call);
  let furnishing: string | undefined;
  const furnishes = repo !== undefined || request.setup.length > 0 || request.furnish !== undefined;
  const fill = async (sandbox: Sandbox) => {
    furnishing = sandbox.name;
    await furnish(sandbox, request, repo, tools, call);
    await request.furnish?.(sandbox);
    furnishing = undefined;
  };
  let sandbox: Sandbox;
  try {
    tools.progress.step('making the sandbox');
    const making = { ...call, onStep: tools.progress.step, onDetail: tools.progress.detail };
    sandbox = await createNamed(backend, spec, making, furnishes ? fill : undefined);
  } catch (error) {
    if (furnishing !== undefined) throw withRemoval(error, backend);
    const other = ifNotExists && isConflict(error) ? await existing(backend, spec.name, call) : undefined;
    if (other === undefined) throw error;
    return reuse(other, request, tools, call);
  }
  try {
    await waitUntilUp(sandbox, request, tools, call);
    return { sandbox, existed: false };
  } catch (error) {
    tools.progress.step('removing the sandbox again');
    throw await removed(backend, sandbox, error);
  }
}

async function prepare(repo: RepoSource, git: GitHost, call: Call): Promise<PreparedRepo> {
  return repo.kind === 'remote'
    ? repo
    : { kind: 'local', url: repo.url, located: await locateCommit(repo, git, call) };
}

function createNamed(backend: Backend, spec: CreateSpec, call: Call, fill?: Furnish): Promise<Sandbox> {
  if (spec.name !== undefined || !backend.manifest.createOptions.includes('name'))
    return backend.create(spec, call, fill);
  return withFreeName((name) => backend.create({ ...spec, name }, call, fill));
}

/** Before the main command: the repository, then the setup commands. */
async function furnish(
  sandbox: Sandbox,
  request: CreateRequest,
  repo: PreparedRepo | undefined,
  tools: CreateTools,
  call: Call,
): Promise<void> {
  const { git, progress } = tools;
  try {
    if (repo !== undefined) {
      progress.step(`cloning ${repo.url}`);
      await cloneRepo(sandbox, repo, git, progress.output, call);
    }
    for (const command of request.setup) {
      progress.step(`setup: ${command}`);
      const exit = await execToEnd(sandbox, { argv: ['/bin/sh', '-c', command] }, progress, call);
      if (!('code' in exit) || exit.code !== 0)
        throw new SbxError('failed', `the setup command ${JSON.stringify(command)} ${exitText(exit)}`);
    }
  } catch (error) {
    if (!call.signal.aborted) progress.fail();
    progress.step('removing the sandbox again');
    throw error;
  }
}

async function waitUntilUp(
  sandbox: Sandbox,
  request: CreateRequest,
  tools: CreateTools,
  call: Call,
): Promise<void> {
  try {
    await waitForAll(sandbox, request, tools, call);
  } catch (error) {
    if (!call.signal.aborted && request.spec.command !== undefined) await showMainLog(sandbox, tools, call);
    throw error;
  }
}

async function waitForAll(
  sandbox: Sandbox,
  { wait, waitTimeoutMs }: CreateRequest,
  { having, progress }: CreateTools,
  call: Call,
): Promise<void> {
  const end = performance.now() + waitTimeoutMs;
  for (const condition of wait) {
    if (condition.kind === 'port') progress.step(`waiting for port ${condition.port}`);
    await waitFor(
      sandbox,
      condition,
      { timeoutMs: Math.max(0, Math.round(end - performance.now())), having },
      call,
    );
  }
}

const LOG_LINES = 20;

/** The log goes with the sandbox, and the reason is probably in it. */
async function showMainLog(sandbox: Sandbox, { progress }: CreateTools, call: Call): Promise<void> {
  const { processes } = sandbox.can;
  if (processes === undefined) return;
  try {
    progress.note('the last output of the main command:');
    for await (const { data } of processes.logs('main', { follow: false, tail: LOG_LINES }, call))
      progress.output(data);
    progress.fail();
  } catch (error) {
    progress.note(`its log cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const REMOVE_TIMEOUT_MS = 60_000;

/** Removes the half-made sandbox; returns the error to throw, which says so. */
async function removed(backend: Backend, sandbox: Sandbox, error: unknown): Promise<unknown> {
  try {
    // Not the caller's signal: after Ctrl-C it is aborted already.
    await backend.destroy(sandbox.id, { force: true }, { signal: AbortSignal.timeout(REMOVE_TIMEOUT_MS) });
  } catch (failure) {
    const why = failure instanceof Error ? failure.message : String(failure);
    const what = error instanceof Error ? error.message : String(error);
    return new SbxError(
      'failed',
      `${what}; and the half-made sandbox '${sandbox.name}' could not be removed: ${why}`,
      {
        backend: backend.name,
        hint: `sbx rm --force ${backend.name}/${sandbox.name}`,
        cause: new AggregateError([error, failure]),
      },
    );
  }
  return withRemoval(error, backend);
}

function withRemoval(error: unknown, backend: Backend): unknown {
  if (!(error instanceof SbxError)) return error;
  const { code, message, hint, retryable, cause } = error;
  return new SbxError(code, `${message}; the sandbox was removed again`, {
    hint,
    retryable,
    cause,
    backend: backend.name,
  });
}

async function existing(
  backend: Backend,
  name: string | undefined,
  call: Call,
): Promise<Sandbox | undefined> {
  if (name === undefined) return undefined;
  try {
    return await backend.get(name, call);
  } catch (error) {
    if (error instanceof SbxError && error.code === 'not_found') return undefined;
    throw error;
  }
}

async function reuse(
  sandbox: Sandbox,
  request: CreateRequest,
  tools: CreateTools,
  call: Call,
): Promise<Created> {
  const { state } = await sandbox.info(call);
  if (state === 'stopped') await need(sandbox, 'power', tools.having).start(call);
  if (state === 'paused') await need(sandbox, 'suspend', tools.having).resume(call);
  if (state === 'failed') {
    throw new SbxError('conflict', `sandbox '${sandbox.name}' is there and has failed`, {
      hint: `sbx rm --force ${sandbox.name}`,
    });
  }
  tools.progress.note(`sandbox '${sandbox.name}' is there already; it was left as it is`);
  await waitForAll(sandbox, { ...request, wait: [{ kind: 'running' }, ...request.wait] }, tools, call);
  return { sandbox, existed: true };
}
