/** Starts `sbx serve` in this process, over one backend, as the suite asks for it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend } from '../../src/lib/backend/contract.ts';
import { openLocalBackend } from '../../src/lib/backends/local/index.ts';
import { type EgressAsked, egressSettings } from '../../src/lib/server/egress/settings.ts';
import { serve } from '../../src/lib/server/serve.ts';
import type { ServeSettings } from '../../src/lib/server/settings.ts';
import { type Served, testSettings } from '../conformance/serving.ts';
import type { HotcellServer, Settings } from './hotcell/server.ts';

const ofSandbox = [
  'GET content',
  'PUT content',
  'GET archive',
  'PUT archive',
  'POST calls/:name',
  'POST lists/:name',
  'POST rename',
  'POST fork',
  'POST extend',
  'POST snapshots',
  'POST snapshots/restore',
];
const links = ['exec', 'dial', 'attach'].map((name) => `GET links/${name}`);

const page = [
  ...['page.js', 'page.css', 'icon.svg', 'xterm.mjs', 'xterm.css', 'xterm-license.txt', 'addon-fit.mjs'],
].map((name) => `GET /dashboard/${name}`);

/** What it answers to besides the API. */
export const besides = [
  'GET /openapi.json',
  'GET /links/create',
  'GET /snapshots',
  'GET /snapshots/:ref',
  'DELETE /snapshots/:ref',
  ...page,
  ...[...ofSandbox, ...links].map((each) => each.replace(' ', ' /sandboxes/:id/')),
];

const local = (state: string): Backend =>
  openLocalBackend({ name: 'local', notice: () => undefined, paths: { state } });

/** Why this machine cannot run local sandboxes; `undefined` when it can. */
export async function whyUnavailable(): Promise<string | undefined> {
  const state = await mkdtemp(join(tmpdir(), 'sbx-serve-'));
  const checks = await local(state).check({ signal: new AbortController().signal });
  await rm(state, { recursive: true, force: true });
  return checks.find(({ status }) => status === 'failed')?.detail;
}

/** Serves the local backend until `close`; what it made stays only in a folder that was named. */
export const startServe = (settings: Settings) => serving({ open: local }, settings);

/** What is served, and how its sandboxes get out. */
export interface ServedWithGateway extends Served {
  /** Where its sandboxes reach the gateway. */
  readonly gateway?: Pick<EgressAsked, 'advertise' | 'network'>;
}

/** Serves any backend. */
export async function serving(served: ServedWithGateway, settings: Settings): Promise<HotcellServer> {
  const state = settings.folder ?? (await mkdtemp(join(tmpdir(), 'sbx-serve-')));
  const backend = served.open(state);
  const server = await serve({
    settings: settingsOf(settings, served, backend),
    backends: { get: async () => backend, having: () => [] },
    folder: join(state, 'serve'),
    now: () => new Date(),
    notice: (line) => process.stderr.write(`${line}\n`),
    log: () => undefined,
  });
  return {
    url: server.url.replace('0.0.0.0', '127.0.0.1'),
    key: keyOf(settings) ?? '',
    async close() {
      await server.close();
      if (settings.folder === undefined) await rm(state, { recursive: true, force: true });
    },
  };
}

function keyOf({ key }: Settings): string | undefined {
  return key === '' ? undefined : (key ?? testSettings.apiKey);
}

function settingsOf(
  settings: Settings,
  { image, gateway }: ServedWithGateway,
  { name }: Backend,
): ServeSettings {
  const { host = '127.0.0.1', allowedHosts = [], maxBodyBytes = testSettings.bodyLimit } = settings;
  return {
    ...testSettings,
    listen: { host, port: 0 },
    driver: name,
    drivers: [name],
    image,
    apiKey: keyOf(settings),
    allowedHosts,
    bodyLimit: maxBodyBytes,
    limits: {
      memoryMb: settings.defaultMemoryMb ?? 0,
      cpus: settings.defaultCpus ?? 0,
      pidsLimit: settings.defaultPidsLimit ?? 0,
    },
    sleepAfterMs: settings.defaultSleepAfterMs ?? 0,
    memoryBudgetMb: settings.memoryBudgetMb ?? 0,
    egress: egressSettings({
      listen: { host: '127.0.0.1', port: 0 },
      ...gateway,
      enforce: settings.egressEnforce ?? false,
      allow: [],
      spendCapUsd: settings.egressSpendCapUsd ?? 0,
      env: { OPENAI_API_KEY: 'of-openai', ANTHROPIC_API_KEY: 'of-anthropic' },
    }),
  };
}
