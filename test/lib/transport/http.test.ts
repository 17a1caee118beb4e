/** HTTP over a socket and over a program: bodies, upgrades, and what breaks. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
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
    } else if (request.url?.startsWith('/large/') === true) {
      large(request.url.slice('/large/'.length), response);
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

const open = () => httpClient(() => connect({ path, allowHalfOpen: true }), 'host');
const get = (where: string) => ({ method: 'GET', path: where }) as const;
const asItIs = async (error: unknown) => error as Error;
/** More than all buffers on the way hold. */
const LARGE = Buffer.alloc(16 * 1024 * 1024, 'large');

function large(how: string, response: ServerResponse): void {
  response.setHeader('x-kind', how);
  if (how === 'refused') response.writeHead(404).end('{"message":"no such file"}');
  else if (how === 'empty') response.setHeader('content-length', '0').end();
  else if (how === 'length') response.setHeader('content-length', LARGE.length).end(LARGE);
  else if (how === 'cut-length')
    response.setHeader('content-length', '10').write('half', () => response.destroy());
  else if (how === 'cut') response.write('half', () => response.destroy());
  else if (how === 'garbled')
    response.socket?.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnone\r\n');
  else {
    if (how === 'closed') response.removeHeader('transfer-encoding');
    response.useChunkedEncodingByDefault = how !== 'closed';
    response.shouldKeepAlive = false;
    response.write(LARGE.subarray(0, 100_000));
    response.end(LARGE.subarray(100_000));
  }
}

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

test.each(['chunked', 'length', 'empty', 'closed'])('a large answer arrives whole: %s', async (framing) => {
  for (const [, open] of ways) {
    const { status, headers, body } = await open().download(get(`/large/${framing}`), signal, asItIs);
    expect([status, headers['x-kind']]).toEqual([200, framing]);
    expect((await buffer(body)).equals(framing === 'empty' ? Buffer.alloc(0) : LARGE)).toBe(true);
  }
});

test('a large answer that nobody reads is not taken in', async () => {
  const connection = connect({ path, allowHalfOpen: true });
  const { body } = await httpClient(() => connection, 'host').download(get('/large/chunked'), signal, asItIs);
  // It stands still when other answers come and it has not moved.
  for (let before = -1, still = 0; still < 5; before = connection.bytesRead) {
    await text((await open().request(get('/x'), signal)).body);
    still = connection.bytesRead === before ? still + 1 : 0;
  }
  expect(connection.bytesRead).toBeLessThan(LARGE.length / 4);
  body.destroy();
});

test.each(['cut', 'cut-length', 'garbled'])(
  'a large answer that is %s fails as it is explained',
  async (how) => {
    const explain = async (error: unknown) => new Error('explained', { cause: error });
    const { body } = await open().download(get(`/large/${how}`), signal, explain);
    await expect(buffer(body)).rejects.toThrow('explained');
  },
);

test('a large answer that is given up breaks', async () => {
  const abort = new AbortController();
  const { body } = await open().download(get('/large/chunked'), abort.signal, asItIs);
  abort.abort();
  await expect(buffer(body)).rejects.toThrow();
});

test('a refusal of a large answer can be read', async () => {
  const { status, body } = await open().download(get('/large/refused'), signal, asItIs);
  expect([status, await text(body)]).toEqual([404, '{"message":"no such file"}']);
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
