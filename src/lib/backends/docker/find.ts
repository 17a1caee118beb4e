/** Finds sandboxes among the engine's containers. */
import type { Call, ListQuery, SandboxInfo } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import type { Inspected, Listed } from './api.ts';
import { type Docker, missing } from './box.ts';
import { type Engine, segment } from './engine.ts';
import { factsOf, ID_LABEL, idOf } from './facts.ts';
import { isExpired, listedInfo, plainName } from './info.ts';
import { isBeginning, unfinishedName } from './unfinished.ts';

/** What may be asked for: names of containers and ids. */
const REFERENCE = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$/;
/** Characters of an id of a container, at the least. */
const SHORTEST_ID = 12;

/** The container of the sandbox `ref`: a name, the sandbox's id, or the beginning of a container's. */
export async function findContainer(docker: Docker, ref: string, call: Call): Promise<Inspected> {
  if (!REFERENCE.test(ref)) throw missing(docker, ref);
  const found = (await inspect(docker.engine, ref, call)) ?? (await byId(docker, ref, call));
  if (found === undefined) throw missing(docker, ref);
  const { Id, Name, Config } = found;
  const name = plainName(Name);
  // The engine takes the shortest beginning of an id that fits one container.
  const isMeant =
    name === ref || idOf(Config.Labels) === ref || (Id.startsWith(ref) && ref.length >= SHORTEST_ID);
  if (!isMeant || (unfinishedName(name) !== undefined && name === ref)) throw missing(docker, ref);
  if (idOf(Config.Labels) === undefined && !docker.showsAll) throw foreign(docker, ref);
  if (isExpired(factsOf(Config.Labels))) {
    throw new SbxError('not_found', `sandbox '${ref}' has expired`, {
      backend: docker.name,
      hint: 'make another one: sbx create',
    });
  }
  return found;
}

/** A container by anything that the engine takes; undefined when there is none. */
export async function inspect(engine: Engine, ref: string, call: Call): Promise<Inspected | undefined> {
  const path = `/containers/${segment(ref)}/json`;
  const request = { method: 'GET', path, what: `find sandbox '${ref}'`, first: true } as const;
  try {
    return (await engine.json(request, call).catch((error: unknown) => {
      // Podman fails when it is removed meanwhile, and finds none when it is asked again.
      if (error instanceof SbxError && error.code === 'failed') return engine.json(request, call);
      throw error;
    })) as Inspected;
  } catch (error) {
    if (error instanceof SbxError && error.code === 'not_found') return undefined;
    throw error;
  }
}

async function byId(docker: Docker, ref: string, call: Call): Promise<Inspected | undefined> {
  if (!/^[0-9a-f]{12}$/.test(ref)) return undefined;
  const listed = await listContainers(docker, call, { all: true, id: ref });
  const [first] = listed.filter(({ Names }) => unfinishedName(plainName(Names?.[0] ?? '')) === undefined);
  return first === undefined ? undefined : inspect(docker.engine, first.Id, call);
}

/** Containers: ours, or with `showsAll` every one. One call. */
export async function listContainers(
  docker: Docker,
  call: Call,
  query: { readonly all: boolean; readonly id?: string; readonly labels?: readonly string[] },
): Promise<readonly Listed[]> {
  const own = query.id === undefined ? [ID_LABEL] : [`${ID_LABEL}=${query.id}`];
  const label = [...(docker.showsAll && query.id === undefined ? [] : own), ...(query.labels ?? [])];
  const filters = label.length > 0 ? JSON.stringify({ label }) : undefined;
  const found = await docker.engine.json(
    {
      ...{ method: 'GET', path: '/containers/json', query: { all: query.all, filters } },
      ...{ what: 'list sandboxes', first: true },
    },
    call,
  );
  return found as readonly Listed[];
}

/** `list` of the contract, and what of it has to go: the expired, and the half-made whose maker is gone. */
export async function* listSandboxes(
  docker: Docker,
  query: ListQuery,
  call: Call,
  remove: (container: string, sandbox: string | undefined) => Promise<void>,
): AsyncIterable<SandboxInfo> {
  const wanted = Object.entries(query.labels ?? {});
  const labels = wanted.map(([key, value]) => (value === '' ? key : `${key}=${value}`));
  for (const container of await listContainers(docker, call, { all: query.all, labels })) {
    const ours = idOf(container.Labels) !== undefined;
    if (!ours && !docker.showsAll) continue;
    const info = listedInfo(docker.name, container);
    const unfinished = unfinishedName(plainName(container.Names?.[0] ?? ''));
    if (unfinished?.kind === 'new' && isBeginning(container)) continue;
    const abandoned = unfinished?.kind === 'new' && info.state === 'stopped';
    if (ours && (abandoned || isExpired(factsOf(container.Labels)))) {
      // A half-made one of a restore has the id of the other.
      await remove(container.Id, abandoned ? undefined : idOf(container.Labels));
      continue;
    }
    if (unfinished?.kind === 'old') continue;
    // Labels of the image are the engine's, not the sandbox's.
    if (wanted.every(([key, value]) => key in info.labels && (value === '' || info.labels[key] === value)))
      yield info;
  }
}

function foreign(docker: Docker, ref: string): SbxError {
  return new SbxError('not_found', `container '${ref}' is there, but was not made by sbx`, {
    backend: docker.name,
    hint: `to see all containers: sbx config set backends.${docker.name}.show all`,
  });
}
