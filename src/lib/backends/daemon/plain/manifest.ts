import type { Manifest } from '../../../backend/manifest.ts';
import { manifest } from '../manifest.ts';

/** What a server without the extensions of `sbx serve` can do of what the backend can. */
export const plainManifest: Manifest = {
  ...manifest,
  capabilities: {
    power: 'native',
    suspend: 'native',
    env: 'native',
    archive: 'derived',
    files: 'derived',
    processes: 'derived',
    ports: 'derived',
    dial: 'derived',
    stats: 'native',
    terminal: 'native',
    sessions: 'derived',
    egress: 'native',
  },
  createOptions: manifest.createOptions.filter(
    (option) => !['snapshot', 'ttl', 'network', 'workdir', 'user', 'command'].includes(option),
  ),
};
