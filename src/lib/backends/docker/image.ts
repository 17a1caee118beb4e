/** Images: looked up in the engine's store, else pulled. */
import type { Readable } from 'node:stream';
import type { Call } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import type { InspectedImage } from './api.ts';
import type { Docker } from './box.ts';
import { segment } from './engine.ts';

/**
 * Names of images after distribution/reference: a registry, a path in lower case, a tag, a digest. Checked here because
 * the name becomes part of a path; an id may stand for it.
 */
const NAME =
  /^(?:[a-zA-Z0-9.-]+(?::\d{1,5})?\/)?[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$/;
const ID = /^(?:sha256:)?[0-9a-f]{12,64}$/;
const NAME_LIMIT = 512;
const LINE_LIMIT = 1024 * 1024;
/** Milliseconds between two words about a pull. */
const STEP_MS = 500;

/** The image called `name`, pulled if need be. `usage` for a name that cannot be one, `not_found` when no registry has it. */
export async function findImage(docker: Docker, name: string, call: Call): Promise<InspectedImage> {
  if (name.length > NAME_LIMIT || !(NAME.test(name) || ID.test(name))) {
    throw new SbxError('usage', `${JSON.stringify(name.slice(0, 80))} is no name of an image`, {
      backend: docker.name,
      hint: 'as in --image debian:12 or --image ghcr.io/owner/name@sha256:…',
    });
  }
  const present = await inspectImage(docker, name, call);
  if (present !== undefined) return present;
  if (ID.test(name)) throw noImage(docker, name, undefined);
  await pull(docker, name, call);
  const pulled = await inspectImage(docker, name, call);
  if (pulled === undefined) throw noImage(docker, name, undefined);
  return pulled;
}

async function inspectImage(docker: Docker, name: string, call: Call): Promise<InspectedImage | undefined> {
  try {
    // The engine takes the slashes of a name as they are.
    const path = `/images/${name.split('/').map(segment).join('/')}/json`;
    return (await docker.engine.json(
      { method: 'GET', path, what: `look for image '${name}'` },
      call,
    )) as InspectedImage;
  } catch (error) {
    if (error instanceof SbxError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** Docker Engine API, "ImageCreate": answers at once and then tells how it goes, one JSON object a line. */
async function pull(docker: Docker, name: string, call: Call): Promise<void> {
  call.onStep?.(`pulling ${name}`);
  const hasTag = /(:[\w.-]+|@sha256:[0-9a-f]+)$/.test(name.slice(name.lastIndexOf('/') + 1));
  const { registryAuth } = await import('./registry-auth.ts');
  const auth = registryAuth(docker, name);
  let body: Readable;
  try {
    ({ body } = await docker.engine.send(
      {
        method: 'POST',
        path: '/images/create',
        query: { fromImage: hasTag ? name : `${name}:latest` },
        headers: auth === undefined ? {} : { 'x-registry-auth': auth },
        what: `pull image '${name}'`,
      },
      call,
    ));
  } catch (error) {
    if (error instanceof SbxError && error.code !== 'interrupted' && error.code !== 'unreachable')
      throw notPulled(docker, name, error.message, error);
    throw error;
  }
  await hearPull(docker, name, body, call);
}

interface PullEvent {
  readonly id?: string;
  readonly status?: string;
  readonly error?: string;
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
}

async function hearPull(docker: Docker, name: string, body: Readable, call: Call): Promise<void> {
  const layers = new Map<string, { readonly current: number; readonly total: number }>();
  let told = performance.now();
  for await (const event of eventsOf(body)) {
    if (event.error !== undefined) throw notPulled(docker, name, event.error, undefined);
    const { current, total } = event.progressDetail ?? {};
    if (
      event.id !== undefined &&
      event.status === 'Downloading' &&
      current !== undefined &&
      total !== undefined
    )
      layers.set(event.id, { current, total });
    if (layers.size === 0 || performance.now() - told < STEP_MS) continue;
    told = performance.now();
    const all = [...layers.values()];
    const sum = (key: 'current' | 'total') => all.reduce((total, layer) => total + layer[key], 0);
    const percent = Math.floor((100 * sum('current')) / Math.max(1, sum('total')));
    call.onStep?.(`pulling ${name}: ${percent} % of ${Math.ceil(sum('total') / 1e6)} MB`);
  }
}

async function* eventsOf(body: Readable): AsyncIterable<PullEvent> {
  let rest = '';
  for await (const part of body.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = `${rest}${part}`.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LINE_LIMIT)
      throw new SbxError('failed', 'the Docker engine tells of a pull in too long lines');
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as PullEvent;
  }
}

function notPulled(docker: Docker, name: string, why: string, cause: unknown): SbxError {
  return new SbxError(
    'failed',
    `there is no image '${name}' here, and it cannot be pulled: ${why.slice(0, 600)}`,
    {
      backend: docker.name,
      hint: `see what the engine has: docker image ls; or log in to its registry: docker login`,
      cause,
    },
  );
}

function noImage(docker: Docker, name: string, cause: unknown): SbxError {
  return new SbxError('not_found', `there is no image '${name}'`, {
    backend: docker.name,
    hint: 'see what the engine has: docker image ls',
    cause,
  });
}
