/** What is asked of a server, and when: a server of ours must not pay for those that are none. */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { Backend, CreateSpec } from '../../../../src/lib/backend/contract.ts';
import { openDaemonBackend } from '../../../../src/lib/backends/daemon/index.ts';
import { SbxError } from '../../../../src/lib/errors.ts';

const call = { signal: new AbortController().signal };
const least: CreateSpec = { env: {}, labels: {}, limits: {} };
const record = { id: 'sb1', status: 'running', createdAt: '2030-01-01T00:00:00.000Z', labels: {}, env: {} };

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server that answers by this table, and what it was asked. */
async function serving(
  answers: Readonly<Record<string, object>>,
): Promise<{ readonly backend: Backend; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const what = `${request.method} ${request.url}`;
    asked.push(what);
    const answer = answers[what];
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { error: 'not found' }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { backend: openDaemonBackend({ name: 'prod', settings: { url } }), asked };
}

const ours = { extensions: { contract: 1 } };

test('a server of ours is not asked for its extensions to get, to list or to remove', async () => {
  const { backend, asked } = await serving({
    'GET /sandboxes/box': { ...record, name: 'box' },
    'GET /sandboxes': { sandboxes: [{ ...record, name: 'box' }] },
    'DELETE /sandboxes/box': {},
  });
  const sandbox = await backend.get('box', call);
  expect(sandbox.limitation).toBeUndefined();
  expect(sandbox.can.diff).toBeDefined();
  for await (const { name } of backend.list({ all: true }, call)) expect(name).toBe('box');
  await backend.destroy('box', { force: true }, call);
  expect(asked).toEqual(['GET /sandboxes/box', 'GET /sandboxes', 'DELETE /sandboxes/box']);
});

test('a record without a name is asked about once, and such a sandbox says why it can do less', async () => {
  const { backend, asked } = await serving({ 'GET /sandboxes/sb1': record, 'GET /info': {} });
  for (let times = 0; times < 2; times++) {
    const { can, limitation } = await backend.get('sb1', call);
    expect(limitation).toContain('extensions');
    expect(can.diff).toBeUndefined();
    expect(can.files).toBeDefined();
  }
  expect(asked).toEqual(['GET /sandboxes/sb1', 'GET /info', 'GET /sandboxes/sb1']);
});

test('a plain server is not sent what it would pass over', async () => {
  const { backend, asked } = await serving({ 'GET /info': {} });
  const attempt = backend.create({ ...least, network: 'none', command: ['true'] }, call);
  const error = await attempt.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SbxError);
  expect(error).toMatchObject({
    code: 'unsupported',
    message: expect.stringMatching(/--network.*main command/),
  });
  expect(asked).toEqual(['GET /info']);
});

test('a plain server has no snapshots, and is sent none', async () => {
  const { backend, asked } = await serving({ 'GET /info': {} });
  const { snapshots } = backend.can;
  if (snapshots === undefined) throw new Error('no snapshots');
  const unsupported = { code: 'unsupported', message: expect.stringContaining('no snapshots') };
  await expect(snapshots.get('one', call)).rejects.toMatchObject(unsupported);
  await expect(snapshots.remove('one', call)).rejects.toMatchObject(unsupported);
  await expect(snapshots.list(call)[Symbol.asyncIterator]().next()).rejects.toMatchObject(unsupported);
  const made = backend.create({ ...least, snapshot: 'one', ttl: 5000 }, call);
  await expect(made).rejects.toMatchObject({ message: expect.stringMatching(/--from, --ttl/) });
  expect(asked.filter((each) => each.startsWith('POST'))).toEqual([]);
});

test('at a plain server a label has the name, and the first with it is meant', async () => {
  const named = (id: string) => ({ ...record, id, labels: { 'sbx.name': 'box', team: 'web' } });
  const { backend } = await serving({
    'GET /info': {},
    'GET /sandboxes': { sandboxes: [named('first'), named('second')] },
    'GET /sandboxes/first': named('first'),
  });
  const sandbox = await backend.get('box', call);
  expect([sandbox.id, sandbox.name]).toEqual(['first', 'box']);
  expect((await sandbox.info(call)).labels).toEqual({ team: 'web' });
});

test('a name that nobody has is not found on either', async () => {
  for (const info of [ours, {}]) {
    const { backend } = await serving({ 'GET /info': info, 'GET /sandboxes': { sandboxes: [] } });
    await expect(backend.get('box', call)).rejects.toMatchObject({ code: 'not_found' });
  }
});
