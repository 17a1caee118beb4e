/** From inside a real container: the gateway is at an address of its network, and where it must be, nothing else is. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { type EgressAsked, egressSettings } from '../../../../src/lib/server/egress/settings.ts';
import { type Serving, serve } from '../../../../src/lib/server/serve.ts';
import { dockerWith } from '../../../conformance/docker-engine.ts';
import { call } from '../../../conformance/harness.ts';
import { testSettings } from '../../../conformance/serving.ts';
import { type ClosedNetwork, closedNetwork } from '../../../support/engines/closed-network.ts';
import { type ModelProvider, modelProvider } from '../../../support/model-provider.ts';
import { requireOrSkip } from '../../../support/require.ts';
import { ask, type Box, say } from './asking.ts';

const KEY = 'sk-real-0123456789';
const host = process.env.SBX_TEST_DOCKER;
const { backend, unavailable } = await dockerWith({ image: 'sbx-test/busybox', pipes: true });
const test = requireOrSkip(unavailable === undefined, unavailable ?? '');

let state: string;
let closed: ClosedNetwork;
let provider: ModelProvider;
beforeAll(async () => {
  if (host === undefined || unavailable !== undefined) return;
  state = await mkdtemp(join(tmpdir(), 'sbx-egress-'));
  closed = await closedNetwork(host);
  provider = await modelProvider('127.0.0.2');
  provider.release();
});
const made: string[] = [];
afterAll(async () => {
  for (const name of made) await backend.destroy(name, { force: true }, call);
  await provider?.[Symbol.asyncDispose]();
  await closed?.[Symbol.asyncDispose]();
  if (state !== undefined) await rm(state, { recursive: true });
});

const create = async (server: Serving, body: object) => {
  const box = await ask<Box>(server, 'POST /sandboxes', body);
  made.push(box.id);
  return box;
};

let count = 0;
function start(asked: Partial<EgressAsked>): Promise<Serving> {
  return serve({
    settings: {
      ...testSettings,
      driver: backend.name,
      drivers: [backend.name],
      egress: egressSettings({
        listen: { host: closed.gateway, port: 0 },
        enforce: true,
        network: closed.name,
        allow: [],
        spendCapUsd: 0,
        env: { REAL: KEY },
        providers: JSON.stringify([{ name: 'openai', baseUrl: `${provider.url}/v1`, keyEnv: 'REAL' }]),
        ...asked,
      }),
    },
    backends: { get: async () => backend, having: () => [] },
    folder: join(state, `${count++}`),
    now: () => new Date(),
    notice: () => undefined,
    log: () => undefined,
  });
}

/** A page on all addresses of this machine. */
async function page(): Promise<{ port: number } & AsyncDisposable> {
  const server = createServer((_, response) => response.end('the page'));
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const MODELS =
  'wget -Y off -q -O - --header "Authorization: Bearer $OPENAI_API_KEY" "$OPENAI_BASE_URL/models" 2>&1';

test('a container reaches its provider with a token, by the address that is advertised', async () => {
  const server = await start({ enforce: false, advertise: 'gateway.example' });
  const name = `echo "${closed.gateway} gateway.example" >> /etc/hosts`;
  const { id, env } = await create(server, { egress: true, setup: [name] });
  expect(env.OPENAI_BASE_URL).toMatch(/^http:\/\/gateway\.example:\d+\/openai$/);
  expect(await say(server, id, MODELS)).toContain('"url":"/v1/models"');
  expect(provider.seen.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
  expect(await say(server, id, 'env')).not.toContain(KEY);
  await server.close();
});

test('has no other way out where all must go through the gateway', async () => {
  await using elsewhere = await page();
  const server = await start({ allow: [`127.0.0.2:${provider.port}`] });
  const { id } = await create(server, { egress: true });
  expect(await say(server, id, `wget -q -O - ${provider.url}/there 2>&1`)).toContain('"url":"/there"');
  expect(await say(server, id, 'wget -O - http://127.0.0.3/ 2>&1')).toContain('403');
  const direct = `wget -Y off -O - http://${closed.gateway}:${elsewhere.port}/ 2>&1`;
  expect(await say(server, id, direct)).toContain('the page');
  closed.only((await ask<{ egressPort: number }>(server, 'GET /info')).egressPort);
  expect(await say(server, id, direct)).toContain('Connection refused');
  expect(await say(server, id, MODELS)).toContain('"url":"/v1/models"');
  const chosen = ask(server, 'POST /sandboxes', { network: 'host' });
  await expect(chosen).rejects.toThrow('400 {"error":"network must be none here');
  await server.close();
});

test('an open network encloses nothing, and makes no sandbox', async () => {
  const server = await start({ network: 'bridge' });
  await expect(ask(server, 'POST /sandboxes', {})).rejects.toThrow("network 'bridge' has a way out");
  expect(await ask(server, 'GET /sandboxes')).toEqual({ sandboxes: [] });
  await server.close();
});

test('without such a network the server refuses to start', async () => {
  await expect(start({ network: undefined })).rejects.toThrow('could go around the egress gateway');
});

test('a gateway on loopback is not promised to containers', async () => {
  const server = await start({ enforce: false, listen: { host: '127.0.0.1', port: 0 } });
  const made = ask(server, 'POST /sandboxes', { egress: true });
  await expect(made).rejects.toThrow('cannot reach the egress gateway at 127.0.0.1');
  await server.close();
});
