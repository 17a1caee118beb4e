/** What is said of engines that cannot be used, and of what is none. */

import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSocket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
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
  await engine.json({ method: 'GET', path: '/b', what: 'ask', query: { q: 'a b&c', r: ['1', '2'] } }, call);
  expect(asked).toEqual(['/a', '/v1.47/b?q=a%20b%26c&r=1&r=2']);
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
    ...{ code: 'unreachable', retryable: false, message: expect.stringContaining('no Docker engine') },
  });
});

test('an address that takes connections and never answers is given up, unless a ping is answered', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const answers: ServerResponse[] = [];
  await serve((request, response) => {
    asked++;
    response.setHeader('Api-Version', '1.41');
    // A connection that is kept has a timer of its own.
    if (request.url === '/_ping' && answers.length === 1) response.setHeader('Connection', 'close').end('OK');
    else answers.push(response);
  });
  const list = { method: 'GET', path: '/slow', what: 'ask', first: true } as const;
  const slow = open().json(list, call);
  await vi.waitFor(() => expect(asked).toBe(1));
  vi.advanceTimersByTime(15_000);
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0));
  answers[0]?.end('{}');
  expect(await slow).toEqual({});
  const mute = open().json(list, call);
  await vi.waitFor(() => expect(asked).toBe(3));
  vi.advanceTimersByTime(15_000);
  await vi.waitFor(() => expect(asked).toBe(4));
  vi.advanceTimersByTime(15_000);
  await expect(mute).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringContaining('not answer'),
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
