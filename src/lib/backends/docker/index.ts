/** The docker backend: containers of a Docker Engine, or of Podman's service, through its API. Needs no docker command. */
import type { Backend } from '../../backend/contract.ts';
import type { BackendOptions } from '../../backend/registry.ts';
import { boxOf, type Docker } from './box.ts';
import { openEngine } from './engine.ts';
import { findContainer, listSandboxes } from './find.ts';
import { manifest } from './manifest.ts';
import { openSandbox } from './sandbox.ts';
import { unhurried } from './unhurried.ts';

/** Opens the backend; connects to nothing. */
export function openDockerBackend({
  name,
  settings,
  env,
  notice,
}: Pick<BackendOptions, 'name' | 'settings' | 'env' | 'notice'>): Backend {
  const engine = openEngine({ backend: name, settings, env });
  const docker: Docker = { name, engine, settings, env, notice, showsAll: settings.show === 'all' };
  return {
    name,
    manifest,
    create: async (spec, call, furnish) => (await import('./create.ts')).create(docker, spec, call, furnish),
    get: async (ref, call) => openSandbox(boxOf(docker, await findContainer(docker, ref, call))),
    list: (query, call) =>
      listSandboxes(docker, query, call, async (container) =>
        (await import('./destroy.ts')).removeContainer(docker, container, unhurried),
      ),
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
