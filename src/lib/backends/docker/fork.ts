/** A copy of a sandbox: an image of its files, and a container of the same settings made from it. */
import type { Call, CreateSpec, ForkOptions, Sandbox } from '../../backend/contract.ts';
import { unhurried } from '../../backend/unhurried.ts';
import { SbxError } from '../../errors.ts';
import type { Inspected } from './api.ts';
import { type Box, missing } from './box.ts';
import { makeNamed, refuseOddName } from './create.ts';
import { segment } from './engine.ts';
import { FORK_LABEL } from './facts.ts';
import { inspect } from './find.ts';
import { givenHostname, inspectedInfo, runtimeOf } from './info.ts';
import { commit, heritageOf } from './snapshots.ts';
import { volumesOf } from './volumes.ts';

/** `fork` of the contract. */
export async function fork(box: Box, { name, labels, env = {} }: ForkOptions, call: Call): Promise<Sandbox> {
  const { docker } = box;
  refuseOddName(docker, name);
  const present = await inspect(docker.engine, box.container, call);
  if (present === undefined) throw missing(docker, box.name);
  const image = await commit(box, {}, { [FORK_LABEL]: 'copy' }, call);
  const { facts } = box;
  const spec: CreateSpec = {
    ...settingsOf(docker.name, present),
    ...{ name, env, labels: labels ?? facts?.labels ?? {} },
  };
  const { image: shown, ...heritage } = heritageOf(box);
  try {
    return await makeNamed(
      docker,
      spec,
      { ...heritage, image, shown, snapshot: facts?.snapshot, fork: true },
      call,
    );
  } catch (error) {
    await removeImage(box, image);
    throw error;
  }
}

/** What a container was made with, for another one. Published ports get places of their own. */
function settingsOf(backend: string, present: Inspected): Omit<CreateSpec, 'labels' | 'env'> {
  const { Id, Config, HostConfig } = present;
  const mode = HostConfig.NetworkMode ?? 'bridge';
  const { limits = {}, command = [] } = inspectedInfo(backend, present);
  const [first, ...rest] = command;
  const published = Object.keys(HostConfig.PortBindings ?? {}).filter((port) => port.endsWith('/tcp'));
  return {
    limits,
    networkName: mode === 'default' ? 'bridge' : mode,
    hostname: givenHostname(Id, Config),
    ports: published.map((port) => Number.parseInt(port, 10)),
    volumes: volumesOf(HostConfig.Binds),
    runtime: runtimeOf(HostConfig),
    command: first === undefined ? undefined : [first, ...rest],
  };
}

async function removeImage({ docker }: Box, image: string): Promise<void> {
  try {
    const path = `/images/${segment(image)}`;
    await docker.engine.json({ method: 'DELETE', path, what: 'remove the image of a fork' }, unhurried);
  } catch (error) {
    if (!(error instanceof SbxError) || error.code !== 'not_found') throw error;
  }
}
