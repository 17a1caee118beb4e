import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { dialError } from '../../../src/lib/backend/derived/dial-error.ts';
import { type ExposedPorts, exposedPorts } from '../../../src/lib/server/preview/exposed-ports.ts';
import { openPreviews, type Previews } from '../../../src/lib/server/preview/server.ts';
import { connectTcp } from '../../../src/lib/transport/connect.ts';
import { testSettings } from '../../conformance/serving.ts';
import { ID, type ServedSandbox, servedSandbox } from './served-sandbox.ts';

const PORT = 8000;

/** Kept in memory instead of a database. */
function exposed(): ExposedPorts {
  const all = new Map<string, unknown>();
  const rows = exposedPorts({} as never);
  return {
    ...rows,
    get: (sandbox, port) => all.get(`${sandbox} ${port}`) as ReturnType<ExposedPorts['get']>,
    put: (sandbox, each) => void all.set(`${sandbox} ${each.port}`, each),
  };
}

describe('the preview server', () => {
  let program: Server;
  let previews: Previews;
  let box: ServedSandbox;
  let stopping: AbortController;
  let ports: ExposedPorts;
  /** What the program inside answers with. */
  let answer: Parameters<typeof createServer>[1];
  const bugs: string[] = [];

  beforeEach(async () => {
    program = createServer((request, response) => answer?.(request, response as never));
    await once(program.listen(0, '127.0.0.1'), 'listening');
    const { port: inside } = program.address() as AddressInfo;
    box = servedSandbox({
      can: {
        async dial(target, call) {
          try {
            return await connectTcp(
              { host: '127.0.0.1', port: target.port === PORT ? inside : 1 },
              { signal: call.signal },
            );
          } catch (error) {
            throw dialError(target, error, call.signal);
          }
        },
      },
    });
    stopping = new AbortController();
    ports = exposed();
    ports.put(ID, { port: PORT, token: null, createdAt: '' });
    previews = await openPreviews({
      settings: { ...testSettings, allowedHosts: ['Box.example'] },
      fleet: box.fleet,
      exposed: ports,
      having: () => [],
      stopping: stopping.signal,
      notice: (line) => bugs.push(line),
    });
  });
  afterEach(async () => {
    stopping.abort();
    program.closeAllConnections();
    program.close();
    await previews.close();
    expect(box.uses()).toBe(0);
    expect(bugs).toEqual([]);
  });

  const host = (port = PORT, id = ID) => `${id}-${port}.localhost:${previews.port}`;
  const begin = (options: { path?: string; method?: string; headers?: Record<string, string> } = {}) => {
    const { headers, ...rest } = options;
    return request({
      host: '127.0.0.1',
      port: previews.port,
      agent: false,
      ...rest,
      headers: { host: host(), ...headers },
    });
  };
  const answerTo = async (outgoing: ReturnType<typeof begin>): Promise<IncomingMessage> => {
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    return response;
  };
  const get = async (options: Parameters<typeof begin>[0] = {}) => {
    const response = await answerTo(begin(options).end());
    return { status: response.statusCode, headers: response.headers, text: await text(response) };
  };

  test('the program gets the request, and the client the answer, as they are', async () => {
    let seen: IncomingMessage | undefined;
    answer = (request, response) => {
      seen = request;
      response.writeHead(418, 'Teapot', [
        ...['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Answer', 'yes'],
        ...['Connection', 'X-Hop', 'X-Hop', 'secret'],
      ]);
      request.pipe(response);
    };
    const outgoing = begin({
      method: 'PUT',
      path: '/a%20b?q=1&q=2',
      headers: { 'X-Asked': 'yes', 'X-Forwarded-For': '10.0.0.1', Connection: 'X-Hop', 'X-Hop': 'secret' },
    });
    outgoing.end('body');
    const response = await answerTo(outgoing);
    expect([response.statusCode, response.statusMessage]).toEqual([418, 'Teapot']);
    expect(response.headers).toMatchObject({ 'set-cookie': ['a=1', 'b=2'], 'x-answer': 'yes' });
    expect(response.headers['x-hop']).toBeUndefined();
    expect(await text(response)).toBe('body');
    expect([seen?.method, seen?.url]).toEqual(['PUT', '/a%20b?q=1&q=2']);
    expect(seen?.headers).toMatchObject({
      host: host(),
      'x-asked': 'yes',
      'x-forwarded-for': '10.0.0.1, 127.0.0.1',
      'x-forwarded-host': host(),
      'x-forwarded-proto': 'http',
    });
    expect(seen?.headers['x-hop']).toBeUndefined();
  });

  test('pieces go both ways as they come', async () => {
    answer = (request, response) => {
      response.writeHead(200);
      response.flushHeaders();
      request.pipe(response);
    };
    const outgoing = begin({ method: 'POST', headers: { 'Transfer-Encoding': 'chunked' } });
    outgoing.flushHeaders();
    const response = await answerTo(outgoing);
    for (const piece of ['one', 'two']) {
      outgoing.write(piece);
      expect(String((await once(response, 'data'))[0])).toBe(piece);
    }
    outgoing.end();
    await once(response, 'end');
  });

  test('an answer that comes before all was read still arrives', async () => {
    answer = (_request, response) => {
      response.writeHead(413).end('too much');
    };
    const outgoing = begin({ method: 'POST', headers: { 'Transfer-Encoding': 'chunked' } });
    outgoing.on('error', () => undefined);
    outgoing.write('x');
    const response = await answerTo(outgoing);
    expect([response.statusCode, await text(response)]).toEqual([413, 'too much']);
    outgoing.destroy();
  });

  test('a client that leaves ends the request inside', async () => {
    const left = Promise.withResolvers<void>();
    answer = (request, response) => {
      response.write('begun');
      request.socket.once('close', () => left.resolve());
    };
    const outgoing = begin();
    const response = await answerTo(outgoing.end());
    await once(response, 'data');
    outgoing.destroy();
    await left.promise;
  });

  test('a program that breaks off does not look like one that has ended', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'Content-Length': '100' }).write('part', () => response.destroy());
    };
    const response = await answerTo(begin().end());
    await expect(text(response)).rejects.toThrow('aborted');
  });

  test('WebSockets pass', async () => {
    const sockets = new WebSocketServer({ server: program });
    sockets.on('connection', (socket) =>
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })),
    );
    const socket = new WebSocket(`ws://127.0.0.1:${previews.port}/`, { headers: { host: host() } });
    await once(socket, 'open');
    socket.send('hello');
    expect(String((await once(socket, 'message'))[0])).toBe('hello');
    expect(box.uses()).toBe(1);
    socket.close(4321);
    expect((await once(socket, 'close'))[0]).toBe(4321);
    sockets.close();
  });

  test('a stop cuts what is under way, WebSockets too', async () => {
    const sockets = new WebSocketServer({ server: program });
    answer = (_request, response) => void response.write('begun');
    const response = await answerTo(begin().end());
    await once(response, 'data');
    const socket = new WebSocket(`ws://127.0.0.1:${previews.port}/`, { headers: { host: host() } });
    await once(socket, 'open');
    const closed = once(socket, 'close');
    const broken = expect(text(response)).rejects.toThrow('aborted');
    stopping.abort();
    await previews.close();
    await Promise.all([closed, broken]);
    sockets.close();
  });

  test.each([
    ['a port that is not exposed', () => host(PORT + 1)],
    ['another sandbox', () => host(PORT, 'sb000000000000')],
    ['loopback itself', () => `127.0.0.1:${previews.port}`],
    ['a domain of somebody else', () => `${ID}-${PORT}.evil.example`],
    ['a domain that ends like ours', () => `${ID}-${PORT}.x.localhost`],
  ])('%s is 404', async (_, name) => {
    answer = (_request, response) => response.end('seen');
    expect(await get({ headers: { host: name() } })).toMatchObject({ status: 404 });
    const socket = new WebSocket(`ws://127.0.0.1:${previews.port}/`, { headers: { host: name() } });
    socket.on('error', () => undefined);
    const [, refused] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    expect(refused.statusCode).toBe(404);
    refused.resume();
  });

  test('names that were allowed are domains, too, in any letters', async () => {
    answer = (_request, response) => response.end('seen');
    expect(await get({ headers: { host: `${ID}-${PORT}.BOX.example` } })).toMatchObject({ text: 'seen' });
    expect(previews.urlOf({ id: ID, port: PORT })).toBe(`http://${host()}`);
  });

  test('a port on which nothing listens is 502', async () => {
    ports.put(ID, { port: 9000, token: null, createdAt: '' });
    expect(await get({ headers: { host: host(9000) } })).toMatchObject({
      status: 502,
      text: 'nothing listens on port 9000 in the sandbox\n',
    });
  });

  test('so is a program that speaks something else', async () => {
    program.removeAllListeners('connection');
    program.on('connection', (socket: Socket) => socket.end('SSH-2.0-none\r\n'));
    expect((await get()).status).toBe(502);
  });

  test('a request that names a whole URL is refused', async () => {
    const socket = connect(previews.port, '127.0.0.1');
    socket.end(`GET http://evil.example/ HTTP/1.1\r\nHost: ${host()}\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });

  describe('with a token', () => {
    let seen: IncomingMessage | undefined;
    beforeEach(() => {
      ports.put(ID, { port: PORT, token: 'the token', createdAt: '' });
      seen = undefined;
      answer = (request, response) => {
        seen = request;
        response.setHeader('Set-Cookie', 'own=1');
        response.end('seen');
      };
    });

    test.each([
      ['nothing', {}],
      ['another', { headers: { 'X-Preview-Token': 'the toke' } }],
      ['another in the query', { path: '/?token=the+tokens' }],
      ['the token as a cookie', { headers: { Cookie: 'sbx-preview=the token' } }],
    ])('%s is 401, and the program hears nothing', async (_, options) => {
      expect((await get(options)).status).toBe(401);
      expect(seen).toBeUndefined();
    });

    test('it opens in a header, which the program does not see', async () => {
      expect((await get({ headers: { 'X-Preview-Token': 'the token' } })).text).toBe('seen');
      expect(seen?.headers['x-preview-token']).toBeUndefined();
    });

    test('it opens in the query once, and the cookie that came of it from then on', async () => {
      const first = await get({ path: '/page?a=%20&token=the%20token&b' });
      expect(seen?.url).toBe('/page?a=%20&b');
      const [own, cookie = ''] = first.headers['set-cookie'] ?? [];
      expect(own).toBe('own=1');
      expect(cookie).toMatch(/^sbx-preview=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax$/);
      const pair = cookie.split(';')[0];
      const again = await get({ path: '/?token=mine', headers: { Cookie: `own=1; ${pair}; other=2` } });
      expect(again.text).toBe('seen');
      expect(again.headers['set-cookie']).toEqual(['own=1']);
      // What the program itself calls its token is its own.
      expect(seen?.url).toBe('/?token=mine');
      expect(seen?.headers.cookie).toBe('own=1; other=2');
      await get({ headers: { Cookie: String(pair) } });
      expect(seen?.headers.cookie).toBeUndefined();
    });

    test('WebSockets need it, too', async () => {
      const sockets = new WebSocketServer({ server: program });
      const url = `ws://127.0.0.1:${previews.port}/`;
      const refused = new WebSocket(url, { headers: { host: host() } });
      refused.on('error', () => undefined);
      const [, answer] = (await once(refused, 'unexpected-response')) as [unknown, IncomingMessage];
      expect(answer.statusCode).toBe(401);
      answer.resume();
      const socket = new WebSocket(`${url}?token=the%20token`, { headers: { host: host() } });
      await once(socket, 'open');
      socket.terminate();
      sockets.close();
    });
  });
});
