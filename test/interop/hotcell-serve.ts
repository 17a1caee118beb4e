/** Starts `sbx serve` in this process, over the local backend, as the suite asks for it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend } from '../../src/lib/backend/contract.ts';
import { openLocalBackend } from '../../src/lib/backends/local/index.ts';
import { egressSettings } from '../../src/lib/server/egress/settings.ts';
import { serve } from '../../src/lib/server/serve.ts';
import type { ServeSettings } from '../../src/lib/server/settings.ts';
import { testSettings } from '../conformance/serving.ts';
import type { HotcellServer, Settings } from './hotcell/server.ts';

const ofSandbox = [
  'GET content',
  'PUT content',
  'GET archive',
  'PUT archive',
  'POST calls/:name',
  'POST lists/:name',
];
const links = ['exec', 'dial', 'attach'].map((name) => `GET links/${name}`);

const page = [
  ...['page.js', 'page.css', 'icon.svg', 'xterm.mjs', 'xterm.css', 'xterm-license.txt', 'addon-fit.mjs'],
].map((name) => `GET /dashboard/${name}`);

/** What it answers to besides the API. */
export const besides = [
  'GET /openapi.json',
  'GET /links/create',
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

/** Serves until `close`; what it made stays only in a folder that was named. */
export async function startServe(settings: Settings): Promise<HotcellServer> {
  const state = settings.folder ?? (await mkdtemp(join(tmpdir(), 'sbx-serve-')));
  const backend = local(state);
  const server = await serve({
    settings: settingsOf(settings),
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

function settingsOf(settings: Settings): ServeSettings {
  const { host = '127.0.0.1', allowedHosts = [], maxBodyBytes = testSettings.bodyLimit } = settings;
  return {
    ...testSettings,
    listen: { host, port: 0 },
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
      enforce: settings.egressEnforce ?? false,
      allow: [],
      spendCapUsd: settings.egressSpendCapUsd ?? 0,
      env: { OPENAI_API_KEY: 'of-openai', ANTHROPIC_API_KEY: 'of-anthropic' },
    }),
  };
}
