/** The gateway as a proxy: who may pass, where to, and what is counted. */

import { once } from 'node:events';
import { request } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ModelProvider, modelProvider } from '../../../support/model-provider.ts';
import { type GatewayHere, gatewayHere, SANDBOX } from './gateway-here.ts';

let web: ModelProvider;
let echo: Server;
let here: GatewayHere;
const portOf = (server: Server) => (server.address() as { port: number }).port;

beforeAll(async () => {
  web = await modelProvider();
  echo = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket));
  await once(echo.listen(0, '127.0.0.1'), 'listening');
  here = await gatewayHere(
    { enforce: true, allow: ['127.0.0.1:*', 'web.example:*', '*.open.example', 'rebound.example:*'] },
    {
      lookUp: async (host) => {
        if (host === 'web.example') return [{ address: '127.0.0.1' }];
        if (host === 'rebound.example') return [{ address: '10.0.0.1' }, { address: 'fe80::1' }];
        throw new Error('ENOTFOUND');
      },
    },
  );
});

afterAll(async () => {
  await here[Symbol.asyncDispose]();
  await web[Symbol.asyncDispose]();
  echo.close();
});

const basic = (user: string) => `Basic ${Buffer.from(`${user}:${user}`).toString('base64')}`;

/** Asks for a tunnel. @returns the status, and the connection or the body */
async function tunnel(target: string, token: string, through = here) {
  const asking = request({
    host: '127.0.0.1',
    port: through.egress.port,
    method: 'CONNECT',
    path: target,
    headers: { 'proxy-authorization': basic(token) },
  });
  asking.end();
  const [answer, socket] = (await once(asking, 'connect')) as [{ statusCode: number }, Socket, Buffer];
  return { status: answer.statusCode, socket };
}

/** Asks for a whole address. */
async function whole(url: string, token: string | undefined, body = '', through = here) {
  const asking = request({
    host: '127.0.0.1',
    port: through.egress.port,
    method: body === '' ? 'GET' : 'POST',
    path: url,
    headers: token === undefined ? {} : { 'proxy-authorization': basic(token) },
    agent: false,
  });
  asking.end(body);
  const [answer] = await once(asking, 'response');
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

const typeOf = (body: string) => (JSON.parse(body) as { error: { type: string } }).error.type;

describe('a tunnel', () => {
  test('carries bytes both ways, half-closed too, and what left is counted', async () => {
    const before = here.rows.find(SANDBOX)?.usage.egressBytes ?? 0;
    const { status, socket } = await tunnel(`127.0.0.1:${portOf(echo)}`, here.mint());
    expect(status).toBe(200);
    const over = here.handled();
    socket.end('x'.repeat(300_000));
    expect((await text(socket)).length).toBe(300_000);
    await over;
    expect(here.rows.find(SANDBOX)?.usage.egressBytes).toBe(before + 300_000);
  });

  test('goes where the name led when it was looked at', async () => {
    const { status, socket } = await tunnel(`web.example:${portOf(echo)}`, here.mint());
    expect(status).toBe(200);
    socket.destroy();
  });

  test.each([
    ['a host that was not allowed', 'other.example:443', 403],
    ['a port that was not allowed', 'www.open.example:22', 403],
    ['a name that leads into a private network', 'rebound.example:443', 403],
    ['this machine, by another address', '[::1]:443', 403],
    ['a name that leads nowhere', 'www.open.example:443', 502],
    ['no port', 'web.example', 400],
  ])('to %s is refused', async (_, target, status) => {
    expect((await tunnel(target, here.mint())).status).toBe(status);
  });

  test('needs a token that is good', async () => {
    for (const token of ['', `sbx_sb1_${'0'.repeat(32)}`, here.mint({ expiresAt: '2020-01-01T00:00:00Z' })])
      expect((await tunnel(`127.0.0.1:${portOf(echo)}`, token)).status).toBe(407);
  });

  test('ends when the server stops', async () => {
    const gateway = await gatewayHere({ enforce: true, allow: ['127.0.0.1:*'] });
    const { socket } = await tunnel(`127.0.0.1:${portOf(echo)}`, gateway.mint(), gateway);
    // A reset is an error to some, an end to others.
    socket.on('error', () => undefined);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    await Promise.all([gateway[Symbol.asyncDispose](), closed]);
  });
});

describe('a whole address', () => {
  test('is asked for without the credentials of the proxy, and what left is counted', async () => {
    const before = here.rows.find(SANDBOX)?.usage.egressBytes ?? 0;
    const over = here.handled();
    const { status, body } = await whole(`http://web.example:${web.port}/a?b=c`, here.mint(), '12345');
    expect([status, JSON.parse(body)]).toEqual([200, { data: [], url: '/a?b=c' }]);
    await over;
    const { headers } = web.seen.at(-1) ?? {};
    expect(headers).toMatchObject({ host: `web.example:${web.port}` });
    expect(headers?.['proxy-authorization']).toBeUndefined();
    expect(here.rows.find(SANDBOX)?.usage.egressBytes).toBe(before + 5);
  });

  test('is refused without a token, elsewhere, and for another protocol', async () => {
    const { status, headers, body } = await whole('http://web.example/', undefined);
    expect([status, headers['proxy-authenticate'], typeOf(body)]).toEqual([
      407,
      'Basic realm="sbx egress"',
      'proxy_authentication_required',
    ]);
    expect(typeOf((await whole('http://other.example/', here.mint())).body)).toBe('host_not_allowed');
    expect((await whole('https://web.example/', here.mint())).status).toBe(400);
    expect((await whole('http://web.example:99999/', here.mint())).status).toBe(400);
  });

  test('cannot be the gateway itself', async () => {
    await using gateway = await gatewayHere({ enforce: true, allow: ['*'] });
    const { body } = await whole(`${gateway.url}/`, gateway.mint(), '', gateway);
    expect(typeOf(body)).toBe('host_not_allowed');
  });
});

test('without enforcement the gateway is no proxy', async () => {
  await using gateway = await gatewayHere({ allow: ['*'] });
  expect((await tunnel('web.example:443', gateway.mint(), gateway)).status).toBe(403);
  expect((await whole('http://web.example/', gateway.mint(), '', gateway)).status).toBe(403);
});

test('a WebSocket is refused, not left open', async () => {
  const socket = connect(here.egress.port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 501 /);
});
