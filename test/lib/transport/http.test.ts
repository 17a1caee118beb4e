/** HTTP over a socket and over a program: bodies, upgrades, and what breaks. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type HttpClient, httpClient } from '../../../src/lib/transport/http.ts';
import { connectProgram } from '../../../src/lib/transport/program-connection.ts';

const { signal } = new AbortController();
/** Copies between its standard streams and the socket that it is given. */
const RELAY = "const s = require('net').connect(process.argv[1]); process.stdin.pipe(s).pipe(process.stdout)";

let folder: string;
let server: Server;
let path: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-http-'));
  path = join(folder, 'sock');
  server = createServer((request, response) => {
    if (request.url === '/cut') {
      response.setHeader('content-length', '10');
      response.write('half');
      response.socket?.destroySoon();
    } else void text(request).then((body) => response.end(`${request.method} ${request.url} ${body}`));
  });
  server.on('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nfirst ');
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
});
afterEach(() => {
  server.close().closeAllConnections();
  rmSync(folder, { recursive: true });
});

const ways: readonly (readonly [string, () => HttpClient])[] = [
  ['a socket', () => httpClient(() => connect({ path, allowHalfOpen: true }), 'host')],
  ['a program', () => httpClient(() => connectProgram([process.execPath, '-e', RELAY, path], {}), 'host')],
];

test.each(ways)('requests one after the other, with bodies of both kinds, over %s', async (_way, open) => {
  const client = open();
  for (const body of [undefined, '{"a":1}', Readable.from(['one', 'two'], { objectMode: false })]) {
    const answer = await client.request({ method: 'POST', path: '/x', body }, signal);
    const sent = typeof body === 'string' ? body : body === undefined ? '' : 'onetwo';
    expect([answer.status, await text(answer.body)]).toEqual([200, `POST /x ${sent}`]);
  }
  client.close();
});

test.each(ways)('the raw connection, its first bytes and its end, over %s', async (_way, open) => {
  const client = open();
  const result = await client.upgrade({ method: 'POST', path: '/raw' }, signal);
  if (!result.upgraded) throw new Error('not upgraded');
  result.connection.end('said');
  expect(await text(result.connection)).toBe('first said');
  client.close();
});

test('an answer that is cut fails', async () => {
  const [, open] = ways[0] ?? [];
  const client = open?.();
  const answer = await client?.request({ method: 'GET', path: '/cut' }, signal);
  await expect(answer && text(answer.body)).rejects.toThrow();
  client?.close();
});

test('a program that fails says why, and one that is not there is named', async () => {
  const complaining = httpClient(
    () => connectProgram(['sh', '-c', 'echo no way in >&2; exit 255'], process.env),
    'host',
  );
  await expect(complaining.request({ method: 'GET', path: '/' }, signal)).rejects.toThrow('sh: no way in');
  const missing = httpClient(() => connectProgram(['/no/such/program'], {}), 'host');
  await expect(missing.request({ method: 'GET', path: '/' }, signal)).rejects.toThrow('/no/such/program');
});
