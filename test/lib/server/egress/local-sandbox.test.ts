/** From inside a real local sandbox: the gateway is at its own loopback, whatever its network is. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Backend } from '../../../../src/lib/backend/contract.ts';
import { openLocalBackend } from '../../../../src/lib/backends/local/index.ts';
import { type EgressAsked, egressSettings } from '../../../../src/lib/server/egress/settings.ts';
import { type Serving, serve } from '../../../../src/lib/server/serve.ts';
import { call } from '../../../conformance/harness.ts';
import { testSettings } from '../../../conformance/serving.ts';
import { type ModelProvider, modelProvider } from '../../../support/model-provider.ts';
import { requireOrSkip } from '../../../support/require.ts';
import { ask, type Box, say } from './asking.ts';

const KEY = 'sk-real-0123456789';
const state = await mkdtemp(join(tmpdir(), 'sbx-egress-'));
const local: Backend = openLocalBackend({ name: 'local', notice: () => undefined, paths: { state } });
const broken = (await local.check(call)).find(({ status }) => status === 'failed');
const test = requireOrSkip(broken === undefined, broken?.detail ?? '');

let provider: ModelProvider;
/** What the server told its operator and wrote to its log. */
const said: string[] = [];
const box = { egress: true };

beforeAll(async () => {
  provider = await modelProvider('127.0.0.2');
  provider.release();
});

afterAll(async () => {
  for await (const { name } of local.list({ all: true }, call))
    await local.destroy(name, { force: true }, call);
  await provider[Symbol.asyncDispose]();
  await rm(state, { recursive: true, force: true });
});

function start(folder: string, asked: Partial<EgressAsked> = {}): Promise<Serving> {
  return serve({
    settings: {
      ...testSettings,
      egress: egressSettings({
        listen: { host: '127.0.0.1', port: 0 },
        enforce: false,
        allow: [],
        spendCapUsd: 0,
        env: { REAL: KEY },
        providers: JSON.stringify([{ name: 'openai', baseUrl: `${provider.url}/v1`, keyEnv: 'REAL' }]),
        ...asked,
      }),
    },
    backends: { get: async () => local, having: () => [] },
    folder: join(state, folder),
    now: () => new Date(),
    notice: (line) => said.push(line),
    log: (line) => said.push(line),
  });
}

/** As a program would that knows only its environment. */
const CHAT =
  'curl -sS "$OPENAI_BASE_URL/chat/completions" -H "Authorization: Bearer $OPENAI_API_KEY" -H "Content-Type: application/json" -d \'{"model":"gpt-4o"}\'';

describe('a local sandbox', () => {
  test('reaches its provider with a token, in its setup and whatever its network is', async () => {
    const server = await start('networks');
    const { id, env } = await ask<Box>(server, 'POST /sandboxes', { ...box, setup: [`${CHAT} > setup`] });
    const closed = await ask<Box>(server, 'POST /sandboxes', { ...box, network: 'none' });
    const shared = await ask<Box>(server, 'POST /sandboxes', { ...box, network: 'host' });
    expect(env.OPENAI_BASE_URL).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/openai$/);
    expect(await say(server, id, 'cat setup')).toContain('"content":"hello"');
    for (const each of [id, closed.id, shared.id])
      expect(await say(server, each, CHAT)).toContain('"content":"hello"');
    expect(provider.seen.map(({ headers }) => headers.authorization)).toEqual(Array(4).fill(`Bearer ${KEY}`));

    const inside = await say(server, id, 'env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null');
    const told = await ask(server, 'GET /sandboxes');
    expect(inside).toContain('OPENAI_API_KEY');
    expect(JSON.stringify([inside, told, said])).not.toContain(KEY);
    await server.close();
  });

  test('reaches it again after a stop, and after the server was another one', async () => {
    const first = await start('again');
    const { id } = await ask<Box>(first, 'POST /sandboxes', box);
    await ask(first, `POST /sandboxes/${id}/stop`);
    await ask(first, `POST /sandboxes/${id}/start`);
    expect(await say(first, id, CHAT)).toContain('"content":"hello"');
    const { egressPort } = await ask<{ egressPort: number }>(first, 'GET /info');
    await first.close();
    const second = await start('again', { listen: { host: '127.0.0.1', port: egressPort } });
    expect(await say(second, id, CHAT)).toContain('"content":"hello"');
    await second.close();
  });

  test('gets to it by a token that was made later', async () => {
    const server = await start('later');
    const { id } = await ask<Box>(server, 'POST /sandboxes', {});
    const { token, providers } = await ask<{ token: string; providers: { baseUrl: string }[] }>(
      server,
      `POST /sandboxes/${id}/egress-tokens`,
    );
    const told = `OPENAI_API_KEY=${token} OPENAI_BASE_URL=${providers[0]?.baseUrl}`;
    expect(await say(server, id, `export ${told}; ${CHAT}`)).toContain('"content":"hello"');
    await server.close();
  });

  test('has no other way out where all must go through the gateway', async () => {
    const server = await start('enforced', { enforce: true, allow: [`127.0.0.2:${provider.port}`] });
    const { id, env } = await ask<Box>(server, 'POST /sandboxes', {});
    expect(env.HTTP_PROXY).toMatch(/^http:\/\/(sbx_\w+):\1@127\.0\.0\.1:\d+$/);
    const there = `${provider.url}/there`;
    expect(await say(server, id, `curl -sS ${there}`)).toContain('"url":"/there"');
    expect(await say(server, id, `curl -sS -p ${there}`)).toContain('"url":"/there"');
    expect(await say(server, id, 'curl -sS http://127.0.0.3/')).toContain('host_not_allowed');
    expect(await say(server, id, `curl -sS --noproxy "*" ${there}`)).toMatch(/curl: \(7\)/);
    const copy = await ask<Box>(server, `POST /sandboxes/${id}/fork`);
    expect(copy.env.HTTP_PROXY).toContain(copy.id);
    expect(await say(server, copy.id, `curl -sS ${there}`)).toContain('"url":"/there"');
    expect(await say(server, copy.id, `curl -sS --noproxy "*" ${there}`)).toMatch(/curl: \(7\)/);
    await expect(ask(server, 'POST /sandboxes', { network: 'private' })).rejects.toThrow(
      '400 {"error":"network must be none here: all traffic goes through the egress gateway"}',
    );
    await server.close();
  });

  test('that could go around the gateway before there was a rule is not copied', async () => {
    const before = await start('ruled');
    const { id } = await ask<Box>(before, 'POST /sandboxes', {});
    await before.close();
    const server = await start('ruled', { enforce: true });
    await expect(ask(server, `POST /sandboxes/${id}/fork`)).rejects.toThrow(/^409 .*go around/);
    const snapshot = await ask<{ id: string }>(server, `POST /sandboxes/${id}/snapshots`);
    const { env } = await ask<Box>(server, 'POST /sandboxes', { snapshot: snapshot.id });
    expect(env.HTTP_PROXY).toBeDefined();
    await ask(server, `DELETE /snapshots/${snapshot.id}`);
    await server.close();
  });
});
