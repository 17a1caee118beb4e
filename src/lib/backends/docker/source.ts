/** What a sandbox is made from: an image, which is pulled when the engine has none of that name, or a snapshot. */
import type { Call, CreateSpec } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import type { Docker } from './box.ts';
import { findImage } from './image.ts';
import { findSnapshot } from './snapshots.ts';

export interface Source {
  /** The image as the engine's other clients shall see it: its name, else its id. */
  readonly image: string;
  /** How the user knows it. */
  readonly shown: string | undefined;
  /** Id of the snapshot. */
  readonly snapshot?: string | undefined;
  readonly workdir: string;
  readonly user?: string | undefined;
  /** Names of variables in the image that were given to the sandbox that it is a picture of. */
  readonly env: readonly string[];
  /** Whether the image is there for this one sandbox. */
  readonly fork?: boolean;
}

/** Finds it; pulls the image if need be. */
export async function sourceOf(docker: Docker, spec: CreateSpec, call: Call): Promise<Source> {
  if (spec.snapshot !== undefined) {
    const { info, facts, image } = await findSnapshot(docker, spec.snapshot, call);
    return { ...facts.facts, image, shown: facts.facts.image, snapshot: info.id };
  }
  const name = spec.image ?? docker.settings.image;
  if (name === undefined) {
    throw new SbxError('usage', `backend '${docker.name}' needs an image to make a sandbox from`, {
      backend: docker.name,
      hint: `name one: --image debian; or for always: sbx config set backends.${docker.name}.image debian`,
    });
  }
  const { Config } = await findImage(docker, name, call);
  return {
    image: name,
    shown: name,
    workdir: Config?.WorkingDir || '/',
    user: Config?.User || undefined,
    env: [],
  };
}
