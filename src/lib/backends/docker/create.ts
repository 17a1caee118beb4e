/** Making a sandbox: a container whose process 1 waits, so that it outlives its main command. A failure leaves nothing. */
import type { Call, CreateSpec, Furnish, Sandbox } from '../../backend/contract.ts';
import { unhurried } from '../../backend/unhurried.ts';
import { SbxError } from '../../errors.ts';
import { randomName } from '../../util/name.ts';
import { randomHex } from '../../util/random-id.ts';
import type { Inspected, Mount } from './api.ts';
import { type Box, boxOf, type Docker } from './box.ts';
import { containerBody } from './container-body.ts';
import { refuseOpenNetwork, refuseUnknownUser, refuseUnpublishable, withHint } from './create-refusals.ts';
import { removeContainer } from './destroy.ts';
import { segment } from './engine.ts';
import { type Facts, OWN_PREFIX } from './facts.ts';
import { inspect } from './find.ts';
import { startMain } from './main-command.ts';
import type { Maker } from './maker.ts';
import { isAboutPipes, makePipes, removePipes } from './pipes.ts';
import { openSandbox } from './sandbox.ts';
import { type Source, sourceOf } from './source.ts';
import { nameUnfinished } from './unfinished.ts';

const NAME_ATTEMPTS = 20;
/** What gVisor's runtime is called everywhere. */
const GVISOR = 'runsc';

/** `create` of the contract. */
export async function create(
  docker: Docker,
  spec: CreateSpec,
  call: Call,
  furnish?: Furnish,
): Promise<Sandbox> {
  if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
  refuseOddName(docker, spec.name);
  refuseOwnLabels(docker, spec.labels);
  refuseUnpublishable(spec, docker.name);
  await refuseOpenNetwork(docker.engine, spec, call);
  const source = await sourceOf(docker, spec, call);
  return makeNamed(docker, spec, source, call, furnish);
}

/** Makes one from `source`, under the name of `spec` or one that is free. */
export async function makeNamed(
  docker: Docker,
  spec: CreateSpec,
  source: Source,
  call: Call,
  furnish?: Furnish,
): Promise<Sandbox> {
  if (spec.name !== undefined) return make(docker, spec, spec.name, source, call, furnish);
  for (let attempt = 1; ; attempt++) {
    try {
      return await make(docker, spec, randomName(), source, call, furnish);
    } catch (error) {
      if (attempt === NAME_ATTEMPTS || !(error instanceof SbxError) || error.code !== 'conflict') throw error;
    }
  }
}

async function make(
  docker: Docker,
  spec: CreateSpec,
  name: string,
  source: Source,
  call: Call,
  furnish: Furnish | undefined,
): Promise<Sandbox> {
  const id = randomHex(6);
  const pipes = await makePipes(docker, id);
  try {
    return await makeWith({ id, pipes }, docker, spec, name, source, call, furnish);
  } catch (error) {
    removePipes(docker, id);
    if (!isAboutPipes(error, pipes)) throw error;
    return makeWith({ id, pipes: undefined }, docker, spec, name, source, call, furnish);
  }
}

async function makeWith(
  own: Pick<Addition, 'id' | 'pipes'>,
  docker: Docker,
  spec: CreateSpec,
  name: string,
  source: Source,
  call: Call,
  furnish: Furnish | undefined,
): Promise<Sandbox> {
  // While it is furnished another name says that it is not finished; its own must be free in the end.
  if (furnish !== undefined) await refuseTaken(docker, name, call);
  const first = furnish === undefined ? name : nameUnfinished(name, 'new', randomHex(4));
  const facts = factsFor(spec, source);
  const container = await addContainer(docker, {
    ...own,
    spec,
    source,
    facts,
    name: first,
    waits: furnish !== undefined,
  });
  let maker: Maker | undefined;
  try {
    const inspected = await inspect(docker.engine, container, call);
    if (inspected === undefined)
      throw new SbxError('failed', `sandbox '${name}' was removed while it was made`);
    refuseDiscarded(docker, spec, inspected);
    refuseForeignCount(docker, spec, inspected);
    const box: Box = { ...boxOf(docker, inspected), name };
    if (furnish !== undefined) maker = await (await import('./maker.ts')).attachMaker(box, call);
    const running = await startContainer(box, facts, source, call);
    const sandbox = openSandbox(running);
    await refuseUnknownUser(sandbox, spec, call);
    if (furnish !== undefined) {
      await furnish(sandbox);
      await maker?.finish(call);
      await renameContainer(running, name, call);
    }
    if (spec.command !== undefined && !running.isBare) await startMain(sandbox, spec.command, call);
    if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
    return sandbox;
  } catch (error) {
    maker?.giveUp();
    await removeContainer(docker, container, unhurried);
    throw withHint(error, spec);
  }
}

function factsFor(spec: CreateSpec, source: Source): Facts {
  return {
    createdAt: new Date().toISOString(),
    expiresAt: spec.ttl === undefined ? undefined : new Date(Date.now() + spec.ttl).toISOString(),
    image: source.shown,
    snapshot: source.snapshot,
    labels: spec.labels,
    limits: spec.limits,
    workdir: spec.workdir ?? source.workdir,
    user: spec.user ?? source.user,
    command: spec.command,
    env: [...new Set([...source.env, ...Object.keys(spec.env)])],
  };
}

interface Addition {
  /** The sandbox's. */
  readonly id: string;
  readonly pipes: Mount | undefined;
  readonly spec: CreateSpec;
  readonly source: Source;
  readonly facts: Facts;
  readonly name: string;
  /** Whether it waits for its maker before it is a sandbox. */
  readonly waits: boolean;
}

/** Makes the container; @returns its id. `conflict` when the name is taken. */
async function addContainer(docker: Docker, { name, ...addition }: Addition): Promise<string> {
  const { spec } = addition;
  const body = containerBody(addition);
  try {
    // Not given up half-way: nobody would know whether it is there.
    const made = (await docker.engine.json(
      {
        method: 'POST',
        path: '/containers/create',
        query: { name },
        body,
        what: `make sandbox '${spec.name ?? name}'`,
      },
      unhurried,
    )) as { readonly Id: string };
    return made.Id;
  } catch (error) {
    if (await isTaken(docker, name, error)) throw taken(docker, spec.name ?? name, error);
    throw withHint(error, spec);
  }
}

/** Starts it. Where the image has no shell for our process 1, its own command takes that place. */
async function startContainer(box: Box, facts: Facts, source: Source, call: Call): Promise<Box> {
  const path = `/containers/${segment(box.container)}/start`;
  try {
    await box.docker.engine.json({ method: 'POST', path, what: `start sandbox '${box.name}'` }, call);
    return box;
  } catch (error) {
    const { pathKind } = await import('./path-stat.ts');
    if (!(error instanceof SbxError) || (await pathKind(box, '/bin/sh', call)) !== undefined) throw error;
    throw noShell(box, source, facts, error);
  }
}

function noShell(box: Box, source: Source, facts: Facts, cause: SbxError): SbxError {
  return new SbxError(
    'unsupported',
    `image '${facts.image ?? source.image}' has no /bin/sh, which keeps a sandbox running`,
    {
      backend: box.docker.name,
      hint: `run it with the docker command, and see it here: sbx config set backends.${box.docker.name}.show all`,
      cause,
    },
  );
}

/** Gives the container its name; `conflict` when it is taken. */
export async function renameContainer(box: Box, name: string, call: Call): Promise<void> {
  const path = `/containers/${segment(box.container)}/rename`;
  try {
    await box.docker.engine.json(
      { method: 'POST', path, query: { name }, what: `rename sandbox '${box.name}'` },
      call,
    );
  } catch (error) {
    if (await isTaken(box.docker, name, error)) throw taken(box.docker, name, error);
    throw error;
  }
}

/** Whether `error` says that somebody has the name. Podman has one status for that and for any other failure. */
async function isTaken(docker: Docker, name: string, error: unknown): Promise<boolean> {
  if (!(error instanceof SbxError)) return false;
  if (error.code === 'conflict') return true;
  return error.code === 'failed' && (await hasContainer(docker, name));
}

async function refuseTaken(docker: Docker, name: string, call: Call): Promise<void> {
  if (await hasContainer(docker, name, call)) throw taken(docker, name, undefined);
}

async function hasContainer(docker: Docker, name: string, call: Call = unhurried): Promise<boolean> {
  const found = await inspect(docker.engine, name, call);
  return found?.Name === `/${name}`;
}

/** The engine wants two characters. */
export function refuseOddName(docker: Docker, name: string | undefined): void {
  if (name === undefined || name.length > 1) return;
  throw new SbxError('usage', `'${name}' is too short for a name on backend '${docker.name}'`, {
    backend: docker.name,
    hint: 'names of containers have two characters or more',
  });
}

function refuseOwnLabels(docker: Docker, labels: CreateSpec['labels']): void {
  const own = Object.keys(labels).find((key) => key.startsWith(OWN_PREFIX));
  if (own === undefined) return;
  throw new SbxError('usage', `the label '${own}' is one of sbx itself`, {
    backend: docker.name,
    hint: `labels that begin with ${OWN_PREFIX} are not for use`,
  });
}

/** Engines leave out limits that their machine cannot keep, with a warning, and Podman any runtime; here they are refused. */
function refuseDiscarded(docker: Docker, { limits, runtime }: CreateSpec, { HostConfig }: Inspected): void {
  if (runtime !== undefined && HostConfig.Runtime !== runtime) {
    throw new SbxError(
      'unsupported',
      `the engine does not take --runtime ${runtime} for a single container`,
      {
        backend: docker.name,
        hint: 'Podman has one runtime for all: name it in its containers.conf',
      },
    );
  }
  const kept = {
    cpus: limits.cpus === undefined || (HostConfig.NanoCpus ?? 0) > 0,
    memory: limits.memory === undefined || HostConfig.Memory === limits.memory,
    pids: limits.pids === undefined || HostConfig.PidsLimit === limits.pids,
  };
  const lost = Object.entries(kept).flatMap(([name, isKept]) => (isKept ? [] : [`--${name}`]));
  if (lost.length === 0) return;
  throw new SbxError('unsupported', `the machine of the Docker engine cannot keep ${lost.join(', ')}`, {
    backend: docker.name,
    hint: 'see its warnings: docker info',
  });
}

/** gVisor runs the processes of a sandbox in threads of its own. The engine counts these, and at the limit the sandbox breaks. */
function refuseForeignCount(docker: Docker, { limits }: CreateSpec, { HostConfig }: Inspected): void {
  if (limits.pids === undefined || HostConfig.Runtime !== GVISOR) return;
  throw new SbxError(
    'unsupported',
    `the runtime ${GVISOR} cannot keep --pids: it would break at that limit`,
    {
      backend: docker.name,
      hint: 'leave out --pids; --memory bounds processes too',
    },
  );
}

function taken(docker: Docker, name: string, cause: unknown): SbxError {
  return new SbxError('conflict', `there is a container '${name}' already`, {
    backend: docker.name,
    hint: `choose another name, or remove it: sbx rm ${name}`,
    cause,
  });
}
