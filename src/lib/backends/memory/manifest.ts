/** What the memory backend is: real host processes in temporary folders, without any wall. For tests only. */
import type { Manifest } from '../../backend/manifest.ts';

const native: Manifest = {
  type: 'memory',
  title: 'Host processes in temporary folders, for tests',
  capabilities: {
    power: 'native',
    suspend: 'native',
    lifetime: 'native',
    rename: 'native',
    fork: 'native',
    snapshots: 'native',
    env: 'native',
    prune: 'native',
  },
  createOptions: ['name', 'snapshot', 'env', 'labels', 'workdir', 'user', 'ttl'],
  limits: {},
  config: [],
};

/** The manifest with these derived capabilities; a main command needs `processes`. */
export function manifestWith(derived: Manifest['capabilities']): Manifest {
  return {
    ...native,
    capabilities: { ...native.capabilities, ...derived },
    createOptions: [
      ...native.createOptions,
      ...(derived.processes === undefined ? [] : (['command'] as const)),
    ],
  };
}

/** The manifest of a memory backend with all that can be made from exec. */
export const memoryManifest: Manifest = manifestWith({
  archive: 'derived',
  dial: 'derived',
  files: 'derived',
  ports: 'derived',
  processes: 'derived',
  sessions: 'derived',
  stats: 'derived',
});
