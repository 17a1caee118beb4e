/** Snapshots: images made by committing a container, tagged so that nobody tidies them away. Volumes are not in them. */
import type { Call, SnapshotInfo } from '../../backend/contract.ts';
import { unhurried } from '../../backend/unhurried.ts';
import { SbxError } from '../../errors.ts';
import { randomHex } from '../../util/random-id.ts';
import type { InspectedImage, Listed, ListedImage } from './api.ts';
import { type Box, type Docker, missing } from './box.ts';
import { segment } from './engine.ts';
import {
  FACTS_LABEL,
  FORK_LABEL,
  ID_LABEL,
  SNAPSHOT_LABEL,
  type SnapshotFacts,
  snapshotFactsOf,
} from './facts.ts';
import { inspect } from './find.ts';
import { plainName } from './info.ts';

const REPOSITORY = 'sbx-snapshot';
const ID = /^[0-9a-f]{12}$/;
/** Characters of the beginning of an id, at the least. */
const SHORTEST_PREFIX = 4;

/** A snapshot, and the image that it is. */
export interface Snapshot {
  readonly info: SnapshotInfo;
  readonly facts: SnapshotFacts;
  /** Id of the image. */
  readonly image: string;
  /** `sbx-snapshot:ID`. */
  readonly tag: string;
}

/** Takes a picture of a sandbox in whatever state it is. `conflict` when the name is taken. */
export async function createSnapshot(
  box: Box,
  options: { readonly name?: string | undefined; readonly labels?: Readonly<Record<string, string>> },
  call: Call,
): Promise<SnapshotInfo> {
  const { docker } = box;
  const { name } = options;
  if (name !== undefined) await refuseTaken(docker, name, call);
  const facts: SnapshotFacts = {
    name,
    createdAt: new Date().toISOString(),
    sandbox: box.name,
    labels: options.labels ?? {},
    facts: heritageOf(box),
  };
  const id = randomHex(6);
  call.onStep?.('committing the files');
  await commit(box, { repo: REPOSITORY, tag: id }, { [SNAPSHOT_LABEL]: JSON.stringify(facts) }, call);
  const { info } = await findSnapshot(docker, id, call);
  return info;
}

/** What a sandbox made from a picture of `box` starts with. */
export function heritageOf({ facts, workdir, user }: Box): SnapshotFacts['facts'] {
  return { image: facts?.image, workdir, user, env: facts?.env ?? [] };
}

/** Makes an image of the container's files; @returns its id. Processes are held meanwhile. */
export async function commit(
  box: Box,
  name: { readonly repo?: string; readonly tag?: string },
  labels: Readonly<Record<string, string>>,
  call: Call,
): Promise<string> {
  if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
  const { engine } = box.docker;
  // A container that somebody makes from it by hand is none of ours.
  const Labels = { [ID_LABEL]: '', [FACTS_LABEL]: '', [FORK_LABEL]: '', ...labels };
  const { isPodman } = await engine.version(call);
  try {
    const made = (await engine.json(
      {
        method: 'POST',
        path: '/commit',
        query: {
          ...{ container: box.container, ...name, pause: true },
          changes: isPodman ? asChanges(Labels) : undefined,
        },
        body: { Labels },
        what: `take a picture of sandbox '${box.name}'`,
      },
      // Not given up half-way: nobody would know the image.
      unhurried,
    )) as { readonly Id: string };
    return made.Id;
  } catch (error) {
    if (error instanceof SbxError && error.code === 'not_found') throw missing(box.docker, box.name, error);
    throw error;
  }
}

/** Podman takes labels here alone, and a value as it is: to Docker it would be a word of a Dockerfile, with quotes and variables. */
function asChanges(labels: Readonly<Record<string, string>>): string[] {
  return Object.entries(labels).map(([name, value]) => `LABEL ${name}=${value}`);
}

/** All snapshots of this engine, in no given order. One call. */
export async function listSnapshots(docker: Docker, call: Call): Promise<Snapshot[]> {
  const filters = JSON.stringify({ label: [SNAPSHOT_LABEL] });
  const images = (await docker.engine.json(
    { method: 'GET', path: '/images/json', query: { filters }, what: 'list snapshots' },
    call,
  )) as readonly ListedImage[];
  return images.flatMap((image) => snapshotsOf(image));
}

/** One for each of our tags: two pictures of the same files are one image to some engines. */
function snapshotsOf({ Id, RepoTags, Size, Labels }: ListedImage): Snapshot[] {
  const facts = snapshotFactsOf(Labels);
  if (facts === undefined) return [];
  return (RepoTags ?? []).flatMap((tag) => {
    const id = idOfTag(tag);
    if (id === undefined) return [];
    const { name, createdAt, sandbox, labels } = facts;
    const info = { id, name, createdAt, sandbox, labels, size: Size };
    return [{ info, facts, image: Id, tag: tagOf(id) }];
  });
}

function tagOf(id: string): string {
  return `${REPOSITORY}:${id}`;
}

/** Podman puts a registry before names without one: `docker.io/library/`, or `localhost/` if its settings say so. */
function idOfTag(tag: string): string | undefined {
  const [, id] = /^(?:docker\.io\/library\/|localhost\/)?sbx-snapshot:([0-9a-f]{12})$/.exec(tag) ?? [];
  return id;
}

/** By id, name, or an unambiguous beginning of an id. `not_found` when there is none. */
export async function findSnapshot(docker: Docker, ref: string, call: Call): Promise<Snapshot> {
  const direct = ID.test(ref) ? await inspectSnapshot(docker, ref, call) : undefined;
  if (direct !== undefined) return direct;
  const all = await listSnapshots(docker, call);
  const exact = all.find(({ info }) => info.id === ref || info.name === ref);
  const starting = ref.length < SHORTEST_PREFIX ? [] : all.filter(({ info }) => info.id.startsWith(ref));
  const found = exact ?? (starting.length === 1 ? starting[0] : undefined);
  if (found !== undefined) return found;
  throw new SbxError('not_found', `there is no snapshot '${ref.slice(0, 100)}' on backend '${docker.name}'`, {
    backend: docker.name,
    hint: 'see what there is: sbx snapshot ls',
  });
}

async function inspectSnapshot(docker: Docker, id: string, call: Call): Promise<Snapshot | undefined> {
  const tag = tagOf(id);
  try {
    const image = (await docker.engine.json(
      { method: 'GET', path: `/images/${segment(tag)}/json`, what: `find snapshot '${id}'` },
      call,
    )) as InspectedImage & { readonly Size?: number };
    const [found] = snapshotsOf({ ...image, RepoTags: [tag], Labels: image.Config?.Labels ?? null });
    return found;
  } catch (error) {
    if (error instanceof SbxError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** Removes a snapshot. `conflict` while a sandbox made from it is there. */
export async function removeSnapshot(docker: Docker, ref: string, call: Call): Promise<void> {
  const { tag, image } = await findSnapshot(docker, ref, call);
  try {
    const path = `/images/${segment(tag)}`;
    await docker.engine.json({ method: 'DELETE', path, what: `remove snapshot '${ref}'` }, call);
  } catch (error) {
    if (!(error instanceof SbxError) || error.code !== 'conflict') throw error;
    const [user = 'a container', ...more] = await usersOf(docker, image, call);
    const others = more.length === 0 ? '' : ` and ${more.length} more`;
    throw new SbxError('conflict', `snapshot '${ref}' is in use by '${user}'${others}`, {
      backend: docker.name,
      hint: `remove what was made from it first: sbx rm ${user}`,
      cause: error,
    });
  }
}

/** Names of the containers that are made from an image; a restore makes one, too. */
async function usersOf(docker: Docker, image: string, call: Call): Promise<string[]> {
  const query = { all: true, filters: JSON.stringify({ ancestor: [image] }) };
  const found = (await docker.engine.json(
    { method: 'GET', path: '/containers/json', query, what: 'list sandboxes' },
    call,
  )) as readonly Listed[];
  return found.map(({ Id, Names }) => plainName(Names?.[0] ?? Id));
}

async function refuseTaken(docker: Docker, name: string, call: Call): Promise<void> {
  const all = await listSnapshots(docker, call);
  if (!all.some(({ info }) => info.name === name || info.id === name)) return;
  throw new SbxError('conflict', `there is a snapshot '${name}' already`, {
    backend: docker.name,
    hint: `sbx snapshot rm ${name}`,
  });
}

/** The container that a sandbox is made of now, for what copies its settings. */
export async function inspectBox(box: Box, call: Call) {
  const found = await inspect(box.docker.engine, box.container, call);
  if (found === undefined) throw missing(box.docker, box.name);
  return found;
}
