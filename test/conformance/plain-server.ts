/** The original of the hotcell API, without our extensions, for the suites of the daemon backend. */
import type { Backend } from '../../src/lib/backend/contract.ts';
import type { Manifest } from '../../src/lib/backend/manifest.ts';
import { openDaemonBackend } from '../../src/lib/backends/daemon/index.ts';
import { plainManifest } from '../../src/lib/backends/daemon/plain/manifest.ts';
import { startSeed } from '../interop/hotcell-seed.ts';
import type { Feature } from './index.ts';

/** Its stand-in driver runs processes of this machine, and keeps no limits. */
export const seedManifest: Manifest = {
  ...plainManifest,
  createOptions: plainManifest.createOptions.filter((option) => !option.startsWith('limits.')),
};

export interface PlainServer {
  readonly backend: Backend;
  close(): Promise<void>;
}

/** Starts `program`, its `start.mjs`; `backend` is the client. */
export async function plainServer(program: string): Promise<PlainServer> {
  const { url, key, close } = await startSeed(program, {});
  const backend = openDaemonBackend({ name: 'plain', settings: { url, token: key } });
  // The backend of a type says what one of them can do at most, before it has asked its server. That a plain one has no snapshots is
  // said when they are asked for: see negotiation.test.ts.
  return { backend: { ...backend, manifest: seedManifest, can: {} }, close };
}

/** What the API has no way to, and what a driver that runs processes of this machine cannot keep apart. */
export const seedLacks: Feature[] = [
  ...(['new workdir', 'exit signals', 'staying paused', 'frozen processes', 'unset environment'] as const),
  'own root',
];
