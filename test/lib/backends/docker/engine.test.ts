/** What is said of engines that cannot be used, and of what is none. */

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEngine } from '../../../../src/lib/backends/docker/engine.ts';

const call = { signal: new AbortController().signal };
let folder: string;
let closing: (() => void)[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-engine-'));
  closing = [];
});
afterEach(() => {
  for (const close of closing) close();
  rmSync(folder, { recursive: true });
});

const path = () => join(folder, 'sock');
const open = () => openEngine({ backend: 'docker', settings: { host: `unix://${path()}` }, env: {} });

async function serve(listener: RequestListener): Promise<void> {
  const server = createServer(listener);
  closing.push(() => server.close().closeAllConnections());
  await new Promise<void>((resolve) => server.listen(path(), resolve));
}

test('the newest version that both know is spoken', async () => {
  const asked: (string | undefined)[] = [];
  await serve((request, response) => {
    asked.push(request.url);
    response.setHeader('Api-Version', '1.44').end('{}');
  });
  await open().json({ method: 'GET', path: '/info', what: 'ask' }, call);
  expect(asked).toEqual(['/_ping', '/v1.44/info']);
});

test('a first call tells the version by itself, and is made once', async () => {
  const asked: (string | undefined)[] = [];
  await serve((request, response) => {
    asked.push(request.url);
    response.setHeader('Api-Version', '1.99').end('{}');
  });
  const engine = open();
  await engine.json({ method: 'GET', path: '/a', what: 'ask', first: true }, call);
  await engine.json({ method: 'GET', path: '/b', what: 'ask', query: { q: 'a b&c' } }, call);
  expect(asked).toEqual(['/a', '/v1.47/b?q=a%20b%26c']);
});

test('one that is too old is refused with both versions', async () => {
  await serve((_request, response) => response.setHeader('Api-Version', '1.20').end('OK'));
  await expect(open().version(call)).rejects.toMatchObject({
    ...{ code: 'unreachable', retryable: false, message: expect.stringMatching(/1\.20.*1\.40/) },
  });
});

test('what is no engine is told as such', async () => {
  await serve((_request, response) => response.end('hello'));
  await expect(open().version(call)).rejects.toMatchObject({
    code: 'failed',
    message: expect.stringContaining('no Docker engine'),
  });
});

test('errors have the engine’s words and are mapped by status', async () => {
  await serve((request, response) => {
    response.setHeader('Api-Version', '1.41');
    response.statusCode = Number(/\d+$/.exec(request.url ?? '')?.[0] ?? 200);
    response.end(request.url?.includes('text') ? 'plain words' : '{"message":"its words"}');
  });
  const engine = open();
  const ask = (path: string) => engine.json({ method: 'GET', path, what: 'ask' }, call);
  for (const [status, code] of [
    [404, 'not_found'],
    [409, 'conflict'],
    [500, 'failed'],
    [401, 'auth'],
  ] as const)
    await expect(ask(`/${status}`)).rejects.toMatchObject({ code, message: 'cannot ask: its words' });
  await expect(ask('/text/400')).rejects.toMatchObject({ message: 'cannot ask: plain words' });
});

test('a socket that is missing, or where nobody listens, says what to do', async () => {
  await expect(open().version(call)).rejects.toMatchObject({
    ...{
      code: 'unreachable',
      message: expect.stringContaining('no such socket'),
      hint: expect.stringContaining('start'),
    },
  });
});

test('a connection that ends without an answer is no answer', async () => {
  const server = createSocket((socket) => socket.destroy());
  closing.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(path(), resolve));
  await expect(open().version(call)).rejects.toMatchObject({ code: 'unreachable' });
});

test('a call that is given up rejects as interrupted', async () => {
  const given = new AbortController();
  await serve(() => given.abort());
  await expect(open().version({ signal: given.signal })).rejects.toMatchObject({ code: 'interrupted' });
});
