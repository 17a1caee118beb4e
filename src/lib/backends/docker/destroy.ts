/** Removing containers, with the volumes that have no name and the image of a fork. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Call } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import type { Inspected } from './api.ts';
import type { Docker } from './box.ts';
import { segment } from './engine.ts';
import { FORK_LABEL, idOf } from './facts.ts';
import { findContainer, inspect } from './find.ts';
import { plainName } from './info.ts';
import { removePipes } from './pipes.ts';

const LOOK_MS = 50;
const PATIENCE_MS = 30_000;

/** `destroy` of the contract. */
export async function destroy(docker: Docker, ref: string, force: boolean, call: Call): Promise<void> {
  let container: Inspected;
  try {
    container = await findContainer(docker, ref, call);
  } catch (error) {
    if (force && error instanceof SbxError && error.code === 'not_found') return;
    throw error;
  }
  const running = container.State.Running === true;
  if (running && !force) {
    const name = plainName(container.Name);
    throw new SbxError('conflict', `sandbox '${name}' is running`, {
      backend: docker.name,
      hint: `sbx rm --force ${name}`,
    });
  }
  await removeContainer(docker, container.Id, call);
  removePipes(docker, idOf(container.Config.Labels));
  await removeForkImage(docker, container, call);
}

/** Removes a container whatever it does. One that is gone, or being removed by somebody else, is no error. */
export async function removeContainer(docker: Docker, id: string, call: Call): Promise<void> {
  const remove = async (): Promise<SbxError | undefined> => {
    try {
      await docker.engine.json(requestFor(id), call);
      return undefined;
    } catch (error) {
      if (!(error instanceof SbxError)) throw error;
      if (error.code === 'not_found') return undefined;
      if (error.code !== 'conflict' && error.code !== 'failed') throw error;
      return error;
    }
  };
  const error = await remove();
  if (error === undefined || (await isGone(docker, id, error, call))) return;
  // Podman fails to kill one that ends at this moment; now it has ended.
  const again = await remove();
  if (again !== undefined && !(await isGone(docker, id, again, call))) throw again;
}

function requestFor(id: string) {
  return {
    method: 'DELETE',
    path: `/containers/${segment(id)}`,
    query: { force: true, v: true },
    what: `remove container ${id.slice(0, 12)}`,
  } as const;
}

/**
 * Waits for somebody else who removes it at this moment. That is a conflict to Docker; Podman has one status for all failures.
 * @returns false when nobody does.
 */
async function isGone(docker: Docker, id: string, error: SbxError, call: Call): Promise<boolean> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await inspect(docker.engine, id, call);
    if (found === undefined) return true;
    const isGoing = error.code === 'conflict' || found.State.Status === 'removing';
    if (!isGoing || performance.now() > end) return false;
    await pause(LOOK_MS);
  }
}

/** The image that a fork was made from has no other use. One that others still use stays for them. */
async function removeForkImage(docker: Docker, { Image, Config }: Inspected, call: Call): Promise<void> {
  if (Config.Labels?.[FORK_LABEL] !== 'copy') return;
  const path = `/images/${segment(Image)}`;
  try {
    await docker.engine.json({ method: 'DELETE', path, what: 'remove the image of a fork' }, call);
  } catch (error) {
    if (!(error instanceof SbxError) || (error.code !== 'conflict' && error.code !== 'not_found'))
      throw error;
  }
}
