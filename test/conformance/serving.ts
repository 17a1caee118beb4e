/** A server of ours in this process, over the local backend or another one, for the suites of the daemon backend. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend } from '../../src/lib/backend/contract.ts';
import { openDaemonBackend } from '../../src/lib/backends/daemon/index.ts';
import { openLocalBackend } from '../../src/lib/backends/local/index.ts';
import { egressSettings } from '../../src/lib/server/egress/settings.ts';
import { serve } from '../../src/lib/server/serve.ts';
import type { ServeSettings } from '../../src/lib/server/settings.ts';
import { call } from './harness.ts';

export const testSettings: ServeSettings = {
  listen: { host: '127.0.0.1', port: 0 },
  previewListen: { host: '127.0.0.1', port: 0 },
  apiKey: 'a key that only this test knows'.replaceAll(' ', '-'),
  allowedHosts: [],
  tls: undefined,
  bodyLimit: 32 * 1024 * 1024,
  driver: 'local',
  drivers: ['local'],
  image: undefined,
  limits: { memoryMb: 0, cpus: 0, pidsLimit: 0 },
  sleepAfterMs: 0,
  cost: { cpuPerHour: 0.05, memGbPerHour: 0.01, egressPerGb: 0.1 },
  egress: egressSettings({
    listen: { host: '127.0.0.1', port: 0 },
    enforce: false,
    allow: [],
    spendCapUsd: 0,
    env: {},
  }),
  memoryBudgetMb: 0,
  otlpEndpoint: undefined,
};

export interface ServingHere {
  readonly backend: Backend;
  /** Why this machine cannot run it. */
  readonly unavailable: string | undefined;
  close(): Promise<void>;
}

/** What is served. */
export interface Served {
  readonly open: (state: string) => Backend;
  /** Of sandboxes that name none. */
  readonly image?: string;
}

const local = (state: string) =>
  openLocalBackend({ name: 'local', notice: () => undefined, paths: { state } });

/** Starts it; `backend` is the client. */
export async function servingHere({ open, image }: Served = { open: local }): Promise<ServingHere> {
  const state = await mkdtemp(join(tmpdir(), 'sbx-serve-'));
  const served = open(state);
  const { name } = served;
  const broken = (await served.check(call)).find(({ status }) => status === 'failed');
  const server = await serve({
    settings: { ...testSettings, driver: name, drivers: [name], image },
    backends: { get: async () => served, having: () => [] },
    folder: join(state, 'serve'),
    now: () => new Date(),
    notice: (line) => process.stderr.write(`${line}\n`),
    log: () => undefined,
  });
  const settings = { url: server.url, token: testSettings.apiKey ?? '' };
  return {
    backend: openDaemonBackend({ name: 'daemon', settings }),
    unavailable: broken?.detail,
    async close() {
      await server.close();
      await rm(state, { recursive: true, force: true });
    },
  };
}
