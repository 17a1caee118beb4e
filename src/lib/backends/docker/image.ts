/** Images: looked up in the engine's store, else pulled. */
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

/** The image called `name`, pulled if need be. `usage` for a name that cannot be one, `not_found` and `auth` when its registry says so. */
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
  const { pull } = await import('./pull.ts');
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

function noImage(docker: Docker, name: string, cause: unknown): SbxError {
  return new SbxError('not_found', `there is no image '${name}'`, {
    backend: docker.name,
    hint: 'see what the engine has: docker image ls',
    cause,
  });
}
