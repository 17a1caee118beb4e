/** All types of backends. Their manifests are data and come along; their code is loaded when one is opened. */
import type { Catalog } from '../backend/registry.ts';
import { manifest as daemon } from './daemon/manifest.ts';
import { manifest as docker } from './docker/manifest.ts';
import { manifest as local } from './local/manifest.ts';

export const catalog: Catalog = {
  local: {
    manifest: local,
    open: async (options) => (await import('./local/index.ts')).openLocalBackend(options),
  },
  docker: {
    manifest: docker,
    open: async (options) => (await import('./docker/index.ts')).openDockerBackend(options),
  },
  daemon: {
    manifest: daemon,
    open: async (options) => (await import('./daemon/index.ts')).openDaemonBackend(options),
  },
};
