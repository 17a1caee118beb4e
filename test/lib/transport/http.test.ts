/** HTTP over a socket, a program and TLS: bodies, connections that are kept, upgrades, and what breaks. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { connect, createServer as createRaw, type Server as RawServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { connect as connectSecure } from 'node:tls';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type HttpClient, type HttpRequest, httpClient } from '../../../src/lib/transport/http.ts';
import { connectProgram } from '../../../src/lib/transport/program-connection.ts';
import { MalformedHttp } from '../../../src/lib/wire/http.ts';

const { signal } = new AbortController();
/** Copies between its standard streams and the socket that it is given. */
const RELAY = "const s = require('net').connect(process.argv[1]); process.stdin.pipe(s).pipe(process.stdout)";
/** Ends nobody has a certificate at. */
const SHARED_KEY = { ciphers: 'PSK', maxVersion: 'TLSv1.2' } as const;
const KEY = Buffer.from('a key that both ends know');

let folder: string;
let path: string;
let closing: (() => void)[];
/** Connections that the server has accepted, in all. */
let accepted: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-http-'));
  path = join(folder, 'sock');
  closing = [];
  accepted = 0;
});
afterEach(() => {
  vi.useRealTimers();
  for (const close of closing) close();
  rmSync(folder, { recursive: true });
});

const echo: RequestListener = (request, response) => {
  void buffer(request).then((body) => response.end(`${request.method} ${request.url} ${body}`));
};

async function listen(server: RawServer): Promise<void> {
  server.prependListener('connection', (socket: Socket) => {
    accepted++;
    closing.push(() => socket.destroy());
  });
  closing.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(path, resolve));
}

function withUpgrades(server: Server): Server {
  return server.on('upgrade', (_request, socket) => {
    socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nfirst ');
    socket.pipe(socket);
  });
}

/** A server that answers with `listener`, and a client of it. */
async function serve(listener: RequestListener): Promise<HttpClient> {
  // It would close what is idle, too.
  await listen(createServer({ keepAliveTimeout: 0 }, listener));
  return open();
}

/** A server that does with a connection what it likes, and a client of it. */
async function serveRaw(onConnection: (socket: Socket, count: number) => void): Promise<HttpClient> {
  await listen(
    createRaw((socket) =>
      onConnection(
        socket.on('error', () => undefined),
        accepted,
      ),
    ),
  );
  return open();
}

function open(): HttpClient {
  const client = httpClient(() => connect({ path, allowHalfOpen: true }), 'host');
  closing.push(client.close);
  return client;
}

const ask = (client: HttpClient, more: Partial<HttpRequest> = {}) =>
  client.request({ method: 'GET', path: '/', ...more }, signal);
const get = async (client: HttpClient, path = '/') => text((await ask(client, { path })).body);

const ways: readonly (readonly [string, (listener: RequestListener) => Promise<HttpClient>])[] = [
  [
    'a socket',
    async (listener) => {
      await listen(withUpgrades(createServer(listener)));
      return open();
    },
  ],
  [
    'a program',
    async (listener) => {
      await listen(withUpgrades(createServer(listener)));
      return httpClient(() => connectProgram([process.execPath, '-e', RELAY, path], {}), 'host');
    },
  ],
  [
    'TLS',
    async (listener) => {
      await listen(withUpgrades(createSecure({ ...SHARED_KEY, pskCallback: () => KEY }, listener)));
      const secret = {
        pskCallback: () => ({ psk: KEY, identity: 'sbx' }),
        checkServerIdentity: () => undefined,
      };
      return httpClient(() => connectSecure({ path, ...SHARED_KEY, ...secret }), 'host');
    },
  ],
];

describe.each(ways)('over %s', (_way, start) => {
  test('requests go one after the other, with bodies of both kinds', async () => {
    const client = await start(echo);
    for (const body of [undefined, '{"é":1}', '', Readable.from(['one', '', 'two'])]) {
      const answer = await ask(client, { method: 'POST', path: '/x', body });
      const sent = typeof body === 'string' ? body : body === undefined ? '' : 'onetwo';
      expect([answer.status, await text(answer.body)]).toEqual([200, `POST /x ${sent}`]);
    }
    expect(accepted).toBe(1);
    client.close();
  });

  test('the raw connection comes with its first bytes, and its directions end apart', async () => {
    const client = await start(echo);
    expect(await get(client)).toBe('GET / ');
    const result = await client.upgrade({ method: 'POST', path: '/raw', body: '{}' }, signal);
    if (!result.upgraded) throw new Error('not upgraded');
    result.connection.end('said');
    expect(await text(result.connection)).toBe('first said');
    client.close();
  });

  test('large bodies go both ways whole', async () => {
    const client = await start((request, response) => void request.pipe(response));
    const piece = Buffer.from(Array.from({ length: 100_003 }, (_, at) => at % 251));
    const sent = createHash('sha1');
    const body = Readable.from(
      (function* () {
        for (let count = 0; count < 200; count++) {
          sent.update(piece);
          yield piece;
        }
      })(),
      { objectMode: false },
    );
    const received = createHash('sha1');
    const answer = await ask(client, { method: 'POST', body });
    for await (const part of answer.body) received.update(part);
    expect(received.digest('hex')).toBe(sent.digest('hex'));
    client.close();
  });
});

test('a raw connection keeps what came for whoever listens later', async () => {
  await listen(withUpgrades(createServer()));
  const result = await open().upgrade({ method: 'POST', path: '/' }, signal);
  if (!result.upgraded) throw new Error('not upgraded');
  const { connection } = result;
  connection.end('more');
  await once(connection, 'finish');
  let heard = '';
  connection.on('data', (chunk: Buffer) => {
    heard += chunk;
  });
  await once(connection, 'end');
  expect(heard).toBe('first more');
});

test('a raw connection that is refused is an answer', async () => {
  const client = await serveRaw((socket) =>
    socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno'),
  );
  const result = await client.upgrade({ method: 'POST', path: '/' }, signal);
  if (result.upgraded) throw new Error('upgraded');
  expect([result.answer.status, await text(result.answer.body)]).toEqual([404, 'no']);
});

test('answers without a body, and after interim ones, leave the connection for the next', async () => {
  const client = await serve((request, response) => {
    response.writeContinue();
    response.statusCode = request.url === '/' ? 200 : Number(request.url?.slice(1));
    response.end(request.method === 'HEAD' ? undefined : 'body');
  });
  expect(await text((await ask(client, { method: 'HEAD' })).body)).toBe('');
  expect(await get(client, '/204')).toBe('');
  expect(await get(client, '/304')).toBe('');
  expect(await get(client)).toBe('body');
  expect(accepted).toBe(1);
});

test('requests at the same time have connections of their own', async () => {
  const client = await serve(echo);
  await Promise.all([get(client), get(client), get(client)]);
  expect(accepted).toBe(3);
  await Promise.all([get(client), get(client)]);
  expect(accepted).toBe(3);
});

test('an answer is broken when the connection ends before it, and not when that is its end', async () => {
  const head = 'HTTP/1.1 200 OK\r\n';
  const client = await serveRaw((socket, count) => {
    socket.end(
      [
        `${head}\r\nall`,
        `${head}content-length: 10\r\n\r\nhalf`,
        `${head}transfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n`,
        head,
        '',
      ][count - 1] ?? '',
    );
  });
  expect(await get(client)).toBe('all');
  const broken = { code: 'ECONNRESET', message: 'the connection ended before the answer did' };
  for (let count = 0; count < 2; count++)
    await expect(ask(client).then(({ body }) => text(body))).rejects.toMatchObject(broken);
  for (let count = 0; count < 2; count++) await expect(ask(client)).rejects.toMatchObject(broken);
});

test('a body that breaks fails as it is explained', async () => {
  const client = await serveRaw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'));
  const explain = async (error: Error) => new Error('explained', { cause: error });
  const { body } = await ask(client, { explain });
  await expect(text(body)).rejects.toMatchObject({ message: 'explained', cause: { code: 'ECONNRESET' } });
});

test('what is no HTTP is refused', async () => {
  const client = await serveRaw((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
  await expect(ask(client)).rejects.toThrow(MalformedHttp);
  await expect(ask(client, { path: '/\r\nx: y' })).rejects.toThrow(RangeError);
});

test('bytes that nobody asked for end a connection', async () => {
  const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
  const client = await serveRaw((socket) => socket.on('data', () => socket.write(`${answer}${answer}`)));
  expect([await get(client), await get(client)]).toEqual(['ok', 'ok']);
  expect(accepted).toBe(2);
});

test('a connection is kept after an answer that waits for its reader', async () => {
  const large = Buffer.alloc(256 * 1024);
  let made = 0;
  const client = httpClient(() => {
    made++;
    return new Duplex({
      read: () => undefined,
      write(_chunk, _encoding, done) {
        this.push(`HTTP/1.1 200 OK\r\ncontent-length: ${large.length}\r\n\r\n`);
        this.push(large);
        done();
      },
    });
  }, 'host');
  const first = await ask(client);
  await once(first.body, 'readable');
  const second = await ask(client);
  expect(await buffer(first.body)).toEqual(large);
  expect(await buffer(second.body)).toEqual(large);
  expect(made).toBe(1);
  client.close();
});

test('a kept connection that ends meanwhile is not used', async () => {
  // Or it would be closed after its time.
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const ended = Promise.withResolvers<void>();
  const client = await serveRaw((socket) => {
    socket.once('close', () => ended.resolve());
    socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'));
  });
  for (let count = 1; count <= 2; count++) {
    const answer = await ask(client, { method: 'POST' });
    expect([await text(answer.body), accepted]).toEqual(['ok', count]);
    await ended.promise;
  }
});

test('a connection is kept for four seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const closed = Promise.withResolvers<void>();
  const client = await serve((request, response) => {
    request.socket.once('close', () => closed.resolve());
    response.end();
  });
  await get(client);
  for (let count = 0; count < 2; count++) {
    vi.advanceTimersByTime(3999);
    await get(client);
  }
  expect(accepted).toBe(1);
  vi.advanceTimersByTime(4000);
  await closed.promise;
  await get(client);
  expect(accepted).toBe(2);
});

describe('a kept connection that the other end has closed', () => {
  /** Answers once a connection; the next request on it breaks it, after `parting`. */
  const breaking = (seen: string[], parting = '') =>
    serveRaw((socket) => {
      let answered = false;
      socket.on('data', (chunk) => {
        seen.push(String(chunk).split(' ', 1).join());
        if (answered) socket.end(parting);
        else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
        answered = true;
      });
    });

  test('is noticed, and a question asked again', async () => {
    const seen: string[] = [];
    const client = await breaking(seen);
    expect([await get(client), await get(client)]).toEqual(['ok', 'ok']);
    expect(seen).toEqual(['GET', 'GET', 'GET']);
    expect(accepted).toBe(2);
  });

  test.each(['POST', 'DELETE'] as const)('is an error of %s, which is sent once', async (method) => {
    const seen: string[] = [];
    const client = await breaking(seen);
    await get(client);
    await expect(ask(client, { method })).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(seen).toEqual(['GET', method]);
  });

  test('is an error once the answer has begun', async () => {
    const seen: string[] = [];
    const client = await breaking(seen, 'HTTP/1.1 200');
    await get(client);
    await expect(get(client)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(seen).toHaveLength(2);
  });
});

describe('an answer that comes before the request is sent', () => {
  test('ends the body and the connection, and is read to its own end', async () => {
    let finish: () => unknown = () => undefined;
    const client = await serve((request, response) => {
      request.pause();
      response.writeHead(413).write('too ');
      finish = () => response.end('much');
    });
    const body = new Readable({
      read() {
        this.push(Buffer.alloc(65_536));
      },
    });
    const answer = await ask(client, { method: 'PUT', body });
    if (!body.closed) await once(body, 'close');
    finish();
    expect([answer.status, await text(answer.body)]).toEqual([413, 'too much']);
    const next = await ask(client);
    finish();
    expect([next.status, accepted]).toEqual([413, 2]);
  });

  test('is no end of the body when it is none of failure', async () => {
    const client = await serve((request, response) => {
      response.write('begun ');
      void buffer(request).then(({ length }) => response.end(String(length)));
    });
    const body = new Readable({ read: () => undefined });
    const answer = await ask(client, { method: 'POST', body });
    await once(answer.body, 'readable');
    body.push(Buffer.alloc(1000));
    body.push(null);
    expect(await text(answer.body)).toBe('begun 1000');
  });
});

describe('a body that is sent', () => {
  test.each([
    ['with its own error', new Error('its own'), { message: 'its own' }],
    ['when it goes away before its end', undefined, { code: 'ERR_STREAM_PREMATURE_CLOSE' }],
  ])('fails the request %s', async (_when, error, wanted) => {
    const client = await serve(echo);
    const body = new Readable({ read: () => undefined });
    const asked = ask(client, { method: 'PUT', body });
    body.destroy(error);
    await expect(asked).rejects.toMatchObject(wanted);
  });
});

describe('back-pressure', () => {
  /** How far `count` comes while the event loop has something to do. */
  async function settled(count: () => number): Promise<number> {
    let before = -1;
    while (count() !== before) {
      before = count();
      await new Promise(setImmediate);
    }
    return before;
  }
  const PIECE = Buffer.alloc(65_536);
  const TOTAL = 500;

  test('holds an answer that nobody reads', async () => {
    let pushed = 0;
    const connection = new Duplex({
      read() {
        if (pushed === 0) this.push(`HTTP/1.1 200 OK\r\ncontent-length: ${TOTAL * PIECE.length}\r\n\r\n`);
        if (pushed++ < TOTAL) this.push(PIECE);
      },
      write: (_chunk, _encoding, done) => done(),
    });
    const { body } = await ask(httpClient(() => connection, 'host'));
    expect((await settled(() => pushed)) * PIECE.length).toBeLessThan(1024 * 1024);
    expect(await buffer(body)).toHaveLength(TOTAL * PIECE.length);
  });

  test('holds a body that the other end does not take', async () => {
    let made = 0;
    let taken = 0;
    let take: (() => void) | undefined;
    const connection = new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _encoding, done) {
        taken += chunk.length;
        if (taken > 10 * PIECE.length) done();
        else take = done;
      },
    });
    const body = new Readable({
      read() {
        this.push(made++ < TOTAL ? PIECE : null);
      },
    });
    const asked = ask(
      httpClient(() => connection, 'host'),
      { method: 'PUT', body },
    );
    expect((await settled(() => made)) * PIECE.length).toBeLessThan(1024 * 1024);
    for (taken = 11 * PIECE.length; take !== undefined; ) {
      const next = take;
      take = undefined;
      next();
    }
    await once(body, 'end');
    connection.push('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    expect((await asked).status).toBe(200);
  });
});

describe('a call that is given up', () => {
  const given = () => {
    const abort = new AbortController();
    return { abort: () => abort.abort(new Error('given up')), signal: abort.signal };
  };

  test('makes no connection when it is before the call', async () => {
    const client = await serve(echo);
    const { abort, signal } = given();
    abort();
    await expect(client.request({ method: 'GET', path: '/' }, signal)).rejects.toThrow('given up');
    expect(accepted).toBe(0);
  });

  test('is not asked again, and closes the connection', async () => {
    const { abort, signal } = given();
    const closed = Promise.withResolvers<void>();
    const client = await serve((request, response) => {
      if (request.url === '/kept') return void response.end();
      request.socket.once('close', () => closed.resolve());
      abort();
    });
    await get(client, '/kept');
    await expect(client.request({ method: 'GET', path: '/' }, signal)).rejects.toThrow('given up');
    await closed.promise;
    expect(accepted).toBe(1);
  });

  test('breaks the body, also of one that reads it later', async () => {
    const { abort, signal } = given();
    const client = await serve((_request, response) => response.write('begun'));
    const { body } = await client.request({ method: 'GET', path: '/' }, signal);
    abort();
    await new Promise(setImmediate);
    await expect(text(body)).rejects.toThrow('given up');
  });

  test('leaves the raw connection to its owner', async () => {
    const { abort, signal } = given();
    await listen(withUpgrades(createServer()));
    const result = await open().upgrade({ method: 'POST', path: '/' }, signal);
    if (!result.upgraded) throw new Error('not upgraded');
    abort();
    result.connection.end('said');
    expect(await text(result.connection)).toBe('first said');
  });
});

test('a body that is left closes the connection', async () => {
  const closed = Promise.withResolvers<void>();
  const client = await serve((request, response) => {
    request.socket.once('close', () => closed.resolve());
    response.write('begun');
  });
  (await ask(client)).body.destroy();
  await closed.promise;
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
