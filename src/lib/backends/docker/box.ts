/** A sandbox as the files of this backend hand it to each other: the container behind it, and what is known of it. */
import { noSandbox } from '../../backend/no-sandbox.ts';
import type { BackendOptions } from '../../backend/registry.ts';
import { SbxError } from '../../errors.ts';
import type { Inspected } from './api.ts';
import type { Engine } from './engine.ts';
import { type Facts, factsOf } from './facts.ts';
import { plainName, sandboxId } from './info.ts';
import { unfinishedName } from './unfinished.ts';

/** The backend, opened. */
export interface Docker {
  readonly name: string;
  readonly engine: Engine;
  readonly settings: BackendOptions['settings'];
  readonly env: BackendOptions['env'];
  readonly notice: (line: string) => void;
  /** Whether containers that sbx did not make are sandboxes too. */
  readonly showsAll: boolean;
  /** The folder for what is shared with containers of an engine on this machine: see pipes.ts; undefined for none. */
  readonly shared: string | undefined;
}

/** One sandbox. A restore puts another container in its place, a rename gives it another name. */
export interface Box {
  readonly docker: Docker;
  readonly id: string;
  name: string;
  /** Id of the container. */
  container: string;
  /** Undefined for a container that sbx did not make. */
  facts: Facts | undefined;
  /** Where commands start. */
  workdir: string;
  /** Who they run as; undefined for root. */
  user: string | undefined;
  /** What the engine runs it with, such as `runc`. */
  readonly runtime: string | undefined;
  /** Set once it is known that there is no /bin/sh inside. */
  isBare: boolean;
  /** Whether it was paused when it was looked at last; the engine refuses commands then. */
  isPaused: boolean;
  /** Set once nobody inside was found to serve requests by pipes, though there could be one. */
  isUnserved: boolean;
}

/** The sandbox that `container` is. */
export function boxOf(docker: Docker, container: Inspected): Box {
  const { Id, Name, Config, HostConfig } = container;
  const facts = factsOf(Config.Labels);
  const name = plainName(Name);
  return {
    docker,
    id: sandboxId(Id, Config.Labels),
    name: unfinishedName(name)?.name ?? name,
    container: Id,
    facts,
    workdir: facts?.workdir ?? (Config.WorkingDir || '/'),
    user: facts === undefined ? Config.User || undefined : facts.user,
    runtime: HostConfig.Runtime,
    isBare: false,
    isPaused: container.State.Paused === true,
    isUnserved: false,
  };
}

/** The `not_found` error for a sandbox. */
export function missing(docker: Pick<Docker, 'name'>, ref: string, cause?: unknown): SbxError {
  return noSandbox(ref, docker.name, cause);
}

/** The `conflict` error for a sandbox that does not run, or is paused. */
export function notRunning(box: Box, state: string, cause?: unknown): SbxError {
  const paused = state === 'paused';
  return new SbxError('conflict', `sandbox '${box.name}' is ${paused ? 'paused' : 'not running'}`, {
    backend: box.docker.name,
    hint: paused ? `resume it: sbx resume ${box.name}` : `start it: sbx start ${box.name}`,
    cause,
  });
}
