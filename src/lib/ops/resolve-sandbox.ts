/** Which sandbox a command means: by name, by id, by `BACKEND/NAME`, or the one that is obvious. */
import type { Backend, Call, Sandbox, SandboxInfo, SandboxState } from '../backend/contract.ts';
import { tellsMore } from '../backend/no-sandbox.ts';
import type { Backends } from '../backend/registry.ts';
import { SbxError } from '../errors.ts';
import { ageOf } from '../util/duration.ts';
import { nearNames } from '../util/name.ts';
import { type BackendFailure, listSandboxes } from './list.ts';
import { type Chooser, facts } from './pick.ts';

/** What choosing needs of the world; the command line's context has it. */
export interface ResolveContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly settings: { readonly backend: string | undefined };
  readonly logger: { info(message: string): void; warn(message: string): void };
  readonly clock: { now(): Date };
  prompter(): Promise<Chooser>;
  backends(): Promise<Backends>;
}

/** What a verb may say about the sandbox that it takes when none is named. */
export interface ResolveOptions {
  /** The verb, for the hint with the command to run. Default: `<verb>`. */
  readonly verb?: string;
  /** What stands behind the sandbox on the command line, as shell text, for the same hint. */
  readonly rest?: string;
  /** States in which one can be the obvious one. Default: running. */
  readonly states?: readonly SandboxState[];
}

/** A reference taken apart. */
export interface SandboxRef {
  readonly backend: string | undefined;
  readonly name: string;
}

/**
 * The sandbox that `ref` names. Without one: `$SBX_SANDBOX`, else the only running one, else a picker on a terminal;
 * stderr says which was taken. A plain name asks only the chosen backend.
 * @throws SbxError `not_found`, with near names in the hint; `usage` when nothing is named and nothing is obvious.
 */
export async function resolveSandbox(
  context: ResolveContext,
  ref: string | undefined,
  call: Call,
  options: ResolveOptions = {},
): Promise<Sandbox> {
  if (ref !== undefined) return find(context, ref, call);
  const fromEnv = context.env.SBX_SANDBOX;
  if (fromEnv !== undefined && fromEnv !== '') {
    const sandbox = await find(context, fromEnv, call);
    context.logger.info(`using sandbox '${sandbox.name}' from SBX_SANDBOX`);
    return sandbox;
  }
  return obvious(context, call, options);
}

/** Takes `BACKEND/NAME` or `NAME` apart. @throws SbxError `usage` */
export function splitRef(ref: string): SandboxRef {
  const at = ref.indexOf('/');
  const backend = at < 0 ? undefined : ref.slice(0, at);
  const name = ref.slice(at + 1);
  if (name === '' || backend === '') {
    throw new SbxError('usage', `${JSON.stringify(ref)} names no sandbox`, {
      hint: 'write NAME or BACKEND/NAME; sbx ls --all shows them',
    });
  }
  return { backend, name };
}

/** The backend that a reference and `--backend` together mean. @throws SbxError `usage` when they differ. */
export async function backendOf(
  context: Pick<ResolveContext, 'settings' | 'backends'>,
  ref: SandboxRef,
): Promise<Backend> {
  const { backend } = context.settings;
  if (ref.backend !== undefined && backend !== undefined && ref.backend !== backend) {
    throw new SbxError('usage', `'${ref.backend}/${ref.name}' is not on backend '${backend}'`, {
      hint: 'leave --backend out',
    });
  }
  return (await context.backends()).get(ref.backend ?? backend);
}

async function find(context: ResolveContext, ref: string, call: Call): Promise<Sandbox> {
  const parts = splitRef(ref);
  const backend = await backendOf(context, parts);
  try {
    return await backend.get(parts.name, call);
  } catch (cause) {
    if (!(cause instanceof SbxError) || cause.code !== 'not_found') throw cause;
    throw await notFound(context, backend, parts.name, cause, call);
  }
}

async function notFound(
  context: ResolveContext,
  backend: Backend,
  name: string,
  cause: SbxError,
  call: Call,
): Promise<SbxError> {
  const known = tellsMore(cause);
  const message = known ? cause.message : `there is no sandbox '${name}' on backend '${backend.name}'`;
  const details = { backend: backend.name, cause };
  const others = (await context.backends()).names().filter((each) => each !== backend.name);
  const sandboxes = await listForHint(context, [backend.name, ...others], call);
  const elsewhere = sandboxes.find(
    (info) => info.backend !== backend.name && (info.name === name || info.id === name),
  );
  if (elsewhere !== undefined) {
    return new SbxError('not_found', message, {
      ...details,
      hint: `it is on another backend: ${elsewhere.backend}/${elsewhere.name}`,
    });
  }
  if (known) return cause;
  const near = nearNames(
    name,
    sandboxes.filter((info) => info.backend === backend.name).map((info) => info.name),
  );
  const guess = near.length === 0 ? '' : `did you mean ${near.map((each) => `'${each}'`).join(' or ')}? `;
  return new SbxError('not_found', message, { ...details, hint: `${guess}see them all: sbx ls --all` });
}

const HINT_TIMEOUT_MS = 2000;

/** What can be listed in a moment; nothing when that takes longer, for only a hint hangs on it. */
async function listForHint(
  context: ResolveContext,
  backends: readonly string[],
  call: Call,
): Promise<readonly SandboxInfo[]> {
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(HINT_TIMEOUT_MS)]);
  try {
    return (await listSandboxes(await context.backends(), { all: true, backends }, { signal })).sandboxes;
  } catch (error) {
    if (call.signal.aborted || !signal.aborted) throw error;
    return [];
  }
}

async function obvious(
  context: ResolveContext,
  call: Call,
  { verb = '<verb>', rest, states = ['running'] }: ResolveOptions,
): Promise<Sandbox> {
  const backends = await context.backends();
  const chosen = context.settings.backend;
  const { sandboxes, failures } = await listSandboxes(
    backends,
    {
      all: states.some((state) => state !== 'running'),
      states,
      ...(chosen === undefined ? {} : { backends: [chosen] }),
    },
    call,
  );
  for (const failure of failures)
    context.logger.warn(`backend '${failure.backend}' could not be asked: ${failure.error.message}`);
  const [first, second] = sandboxes;
  if (first === undefined) throw none(failures, verb, states);
  if (second === undefined) {
    context.logger.info(`using sandbox '${first.name}', the only ${states.join(' or ')} one`);
    return open(backends, first, call);
  }
  const prompter = await context.prompter();
  const word = rest === undefined ? shownRef(backends, first) : `${shownRef(backends, first)} ${rest}`;
  if (!prompter.canAsk) {
    throw new SbxError('usage', `no sandbox is named and ${sandboxes.length} are ${states.join(' or ')}`, {
      hint: `sbx ${verb} ${word}`,
    });
  }
  const picked = await prompter.select({
    message: 'Which sandbox?',
    flag: `its name: sbx ${verb} ${word}`,
    choices: sandboxes.map((info) => ({
      name: shownRef(backends, info),
      value: info,
      description: facts(info.state, ageOf(info.createdAt, context.clock.now()), info.backend),
    })),
  });
  return open(backends, picked, call);
}

function none(failures: readonly BackendFailure[], verb: string, states: readonly SandboxState[]): SbxError {
  const [failure] = failures;
  if (failure !== undefined) return failure.error;
  const create = states.includes('running')
    ? `make one: sbx create, or name one: sbx ${verb} NAME`
    : `name one: sbx ${verb} NAME`;
  return new SbxError('usage', `no sandbox is named and none is ${states.join(' or ')}`, { hint: create });
}

/** It may have been removed since it was listed. */
async function open(backends: Backends, info: SandboxInfo, call: Call): Promise<Sandbox> {
  try {
    return await (await backends.get(info.backend)).get(info.id, call);
  } catch (cause) {
    if (!(cause instanceof SbxError) || cause.code !== 'not_found') throw cause;
    throw new SbxError('not_found', `sandbox '${info.name}' has been removed meanwhile`, {
      backend: info.backend,
      hint: 'see what is there: sbx ls --all',
      cause,
    });
  }
}

/** How to name a sandbox on the command line: plain on the default backend. */
function shownRef(backends: Backends, info: SandboxInfo): string {
  return info.backend === backends.default() ? info.name : `${info.backend}/${info.name}`;
}
