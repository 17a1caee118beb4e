/**
 * Restoring a snapshot. The files of a container cannot be put back, so another one with its settings takes its place and
 * name. Whatever happens half-way, one of the two has the name, or gets it back: see unfinished.ts and prune.ts.
 */
import type { Call, Sandbox } from '../../backend/contract.ts';
import { unhurried } from '../../backend/unhurried.ts';
import { SbxError } from '../../errors.ts';
import { randomHex } from '../../util/random-id.ts';
import type { HostConfig, Inspected } from './api.ts';
import type { Box } from './box.ts';
import { renameContainer } from './create.ts';
import { removeContainer } from './destroy.ts';
import { FACTS_LABEL, type Facts } from './facts.ts';
import { givenHostname } from './info.ts';
import { renewPipes } from './pipes.ts';
import { start, stop } from './power.ts';
import { findSnapshot, inspectBox } from './snapshots.ts';
import { nameUnfinished } from './unfinished.ts';

/** `restore` of the contract. */
export async function restore(box: Box, sandbox: Sandbox, ref: string, call: Call): Promise<void> {
  const { docker } = box;
  const { facts } = box;
  if (facts === undefined) {
    throw new SbxError('unsupported', `container '${box.name}' was not made by sbx and cannot be restored`, {
      backend: docker.name,
      hint: `make a sandbox from it: sbx create --from ${ref}`,
    });
  }
  const snapshot = await findSnapshot(docker, ref, call);
  const old = await inspectBox(box, call);
  const mark = randomHex(4);
  await renewPipes(docker, box.id, old);
  const container = await addLike(box, old, snapshot.image, facts, nameUnfinished(box.name, 'new', mark));
  const wasRunning = old.State.Running === true;
  const aside = nameUnfinished(box.name, 'old', mark);
  try {
    await renameContainer(box, aside, call);
    await renameContainer({ ...box, container }, box.name, call).catch(async (error: unknown) => {
      await renameContainer(box, box.name, unhurried);
      throw error;
    });
  } catch (error) {
    await removeContainer(docker, container, unhurried);
    throw error;
  }
  // From here on it is restored.
  box.container = container;
  await stop({ ...box, container: old.Id }, 0, unhurried);
  await removeContainer(docker, old.Id, unhurried);
  if (wasRunning) await start(box, sandbox, call);
}

/** A container with the settings of `old`, made from `image`. */
async function addLike(box: Box, old: Inspected, image: string, facts: Facts, name: string): Promise<string> {
  const { Config, HostConfig } = old;
  const Hostname = givenHostname(old.Id, Config);
  // Podman tells its own variables too, such as HOME of process 1. What the image gives, it gives again.
  const Env = Config.Env?.filter((pair) => facts.env.includes(pair.slice(0, pair.indexOf('='))));
  const Labels = { ...Config.Labels, [FACTS_LABEL]: JSON.stringify({ ...facts, restored: true }) };
  const made = (await box.docker.engine.json(
    {
      method: 'POST',
      path: '/containers/create',
      query: { name },
      body: { ...Config, Hostname, Env, Image: image, Labels, HostConfig: ownSettings(HostConfig) },
      what: `restore sandbox '${box.name}'`,
    },
    unhurried,
  )) as { readonly Id: string };
  return made.Id;
}

/** Those that container-body.ts gives. Podman does not take back all of its own. */
function ownSettings({ NanoCpus, Memory, MemorySwap, PidsLimit, ...more }: HostConfig): object {
  const { Runtime, NetworkMode, PortBindings, Binds, Mounts } = more;
  return { NanoCpus, Memory, MemorySwap, PidsLimit, Runtime, NetworkMode, PortBindings, Binds, Mounts };
}
