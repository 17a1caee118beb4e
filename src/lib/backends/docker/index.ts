/** The docker backend: containers of a Docker Engine, or of Podman's service, through its API. Needs no docker command. */
import { join } from 'node:path';
import type { Backend } from '../../backend/contract.ts';
import type { BackendOptions } from '../../backend/registry.ts';
import { unhurried } from '../../backend/unhurried.ts';
import { boxOf, type Docker } from './box.ts';
import { openEngine } from './engine.ts';
import { findContainer, listSandboxes } from './find.ts';
import { manifest } from './manifest.ts';
import { removePipes } from './pipes.ts';
import { openSandbox } from './sandbox.ts';

export interface DockerOptions extends Pick<BackendOptions, 'name' | 'settings' | 'env' | 'notice'> {
  /** Without a state folder commands always go by the engine. */
  readonly paths?: { readonly state: string };
}

/** Opens the backend; connects to nothing. */
export function openDockerBackend({ name, settings, env, notice, paths }: DockerOptions): Backend {
  const engine = openEngine({ backend: name, settings, env });
  const shared = paths === undefined ? undefined : join(paths.state, 'docker');
  const docker: Docker = { name, engine, settings, env, notice, showsAll: settings.show === 'all', shared };
  return {
    name,
    manifest,
    create: async (spec, call, furnish) => (await import('./create.ts')).create(docker, spec, call, furnish),
    get: async (ref, call) => openSandbox(boxOf(docker, await findContainer(docker, ref, call))),
    list: (query, call) =>
      listSandboxes(docker, query, call, async (container, sandbox) => {
        await (await import('./destroy.ts')).removeContainer(docker, container, unhurried);
        removePipes(docker, sandbox);
      }),
    destroy: async (ref, { force }, call) => (await import('./destroy.ts')).destroy(docker, ref, force, call),
    check: async (call) => (await import('./check.ts')).check(docker, call),
    can: {
      snapshots: {
        async *list(call) {
          const { listSnapshots } = await import('./snapshots.ts');
          for (const { info } of await listSnapshots(docker, call)) yield info;
        },
        get: async (ref, call) =>
          (await (await import('./snapshots.ts')).findSnapshot(docker, ref, call)).info,
        remove: async (ref, call) => (await import('./snapshots.ts')).removeSnapshot(docker, ref, call),
      },
      prune: async ({ dryRun }, call) => (await import('./prune.ts')).prune(docker, dryRun, call),
    },
  };
}
