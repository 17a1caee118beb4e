/** Clients of `sbx serve` that take their time, send too much, or do not speak its protocols: each comes to its end. */
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { type BuiltServer, KEY } from '../support/built-server.ts';
import { memoryOf } from '../support/memory-of.ts';
import { type RawClient, rawClient } from '../support/raw-client.ts';
import { madeOn, say, serverHost, builtTest as test } from '../support/server-host.ts';

const host = serverHost();
const start = () => host.start(host.newState());

const HEAD = `Host: localhost\r\nAuthorization: Bearer ${KEY}\r\n`;
/** Milliseconds between the bytes of one that dribbles. */
const DRIBBLE_MS = 200;
const MB = 1024 * 1024;

/** Writes the same again and again until the connection is over. */
async function dribble({ socket }: RawClient, piece: string): Promise<void> {
  while (!socket.destroyed) {
    socket.write(piece);
    await pause(DRIBBLE_MS);
  }
}

describe('slow clients', () => {
  test('a head that dribbles, or none at all, ends in 408; others are served meanwhile', async () => {
    const server = await start();
    const slow = Array.from({ length: 50 }, () => rawClient(server.url));
    const idle = Array.from({ length: 400 }, () => rawClient(server.url));
    for (const client of slow) {
      client.socket.write('GET /info HTTP/1.1\r\nX-Slow: ');
      void dribble(client, 'a');
    }
    expect((await server.ask('GET', '/info')).status).toBe(200);
    const before = memoryOf(server.pid).now;
    for (const answer of await Promise.all(slow.map(({ closed }) => closed)))
      expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    await Promise.all(idle.map(({ closed }) => closed));
    expect(memoryOf(server.pid).now - before).toBeLessThan(32);
    expect((await server.ask('GET', '/info')).status).toBe(200);
  });

  test('a body that nobody asked for does not hold the connection', async () => {
    const server = await start();
    const stranger = rawClient(server.url);
    stranger.socket.write(
      'POST /sandboxes HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    void dribble(stranger, '1\r\na\r\n');
    expect(await stranger.closed).toMatch(/^HTTP\/1\.1 401 /);
  });

  test('a body that ends soon after its answer leaves the connection for the next request', async () => {
    const server = await start();
    const client = rawClient(server.url);
    client.socket.write('POST /sandboxes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n');
    await client.until(/401/);
    client.socket.write('{}GET /info HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    expect(await client.closed).toMatch(/HTTP\/1\.1 200 OK/);
  });
});

describe('too much', () => {
  test('a head above 16 kB is 431, in one line or in many', async () => {
    const server = await start();
    const lines = [`X-Long: ${'y'.repeat(17 * 1024)}`, 'X-Many: y\r\n'.repeat(3000).trimEnd()];
    for (const line of lines) {
      const client = rawClient(server.url);
      client.socket.write(`GET /info HTTP/1.1\r\nHost: localhost\r\n${line}\r\n\r\n`);
      expect(await client.closed).toMatch(/^HTTP\/1\.1 431 /);
    }
  });

  test('a body above the cap is 413 while it is still being sent, and is not kept', async () => {
    const server = await host.start(host.newState(), { flags: ['--body-limit', '1m'] });
    const before = memoryOf(server.pid).peak;
    const clients = Array.from({ length: 20 }, () => rawClient(server.url));
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    for (const client of clients) {
      client.socket.write(`POST /sandboxes HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
      void flood(client, chunk);
    }
    await Promise.all(clients.map((client) => client.until(/^HTTP\/1\.1 413 .*request body too large/s)));
    await Promise.all(clients.map(({ closed }) => closed));
    // Of gigabytes that came meanwhile.
    expect(memoryOf(server.pid).peak - before).toBeLessThan(300);
    expect((await server.ask('GET', '/sandboxes')).status).toBe(200);
  });
});

/** Sends the same again and again, as fast as it is taken, until the connection is over. */
async function flood({ socket }: RawClient, piece: string): Promise<void> {
  while (!socket.destroyed) await new Promise<void>((taken) => socket.write(piece, () => taken()));
}

describe('what does not speak the protocol of its connection', () => {
  const upgraded = async (server: BuiltServer, path: string, lines: string) => {
    const client = rawClient(server.url);
    client.socket.write(`GET ${path} HTTP/1.1\r\n${HEAD}Connection: Upgrade\r\n${lines}\r\n\r\n`);
    await client.until(/^HTTP\/1\.1 101 /);
    return client;
  };
  const websocket =
    'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==';
  /** A masked frame; its mask is zeros. */
  const frame = (first: number, content: Buffer, length = content.length) =>
    Buffer.concat([Buffer.from([first, 0xff, 0, 0, 0, 0]), uint32(length), Buffer.alloc(4), content]);
  const uint32 = (value: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  };

  test('a terminal closes with the code of the fault', async () => {
    const server = await start();
    const id = await madeOn(server);
    const faults: readonly (readonly [string, number, Buffer])[] = [
      ['a frame without a mask', 1002, Buffer.from('\x81\x01x', 'latin1')],
      ['an unknown opcode', 1002, frame(0x83, Buffer.alloc(0))],
      ['reserved bits', 1002, frame(0xf2, Buffer.from('x'))],
      ['a control frame in pieces', 1002, frame(0x09, Buffer.from('x'))],
      ['text that is no UTF-8', 1007, frame(0x81, Buffer.from([0xff, 0xfe]))],
      ['a frame above 1 MiB, before it comes', 1009, frame(0x82, Buffer.alloc(0), MB + 1)],
    ];
    for (const [what, code, bytes] of faults) {
      const client = await upgraded(server, `/sandboxes/${id}/terminal`, websocket);
      client.socket.write(bytes);
      const closing = String.fromCharCode(0x88, 2, code >> 8, code & 0xff);
      await client.until(new RegExp(`${closing}`, 's')).catch((error) => {
        throw new Error(`${what}: ${error.message}`);
      });
      await client.closed;
    }
    expect(await say(server, id, 'echo usable')).toBe('usable\n');
  });

  test('a link is cut', async () => {
    const server = await start();
    const id = await madeOn(server);
    const faults: readonly (readonly [string, Buffer])[] = [
      ['a message that is no JSON', Buffer.from('\0\0\0\0\x01{', 'latin1')],
      ['a message that is no object', Buffer.from('\0\0\0\0\x01' + '5', 'latin1')],
      ['a message above 8 MiB, before it comes', Buffer.from('\0\xff\xff\xff\xff', 'latin1')],
      ['a stream above its window', Buffer.concat(Array.from({ length: 5 }, () => piece(256 * 1024)))],
    ];
    for (const [what, bytes] of faults) {
      const client = await upgraded(server, `/sandboxes/${id}/links/exec`, 'Upgrade: sbx-frames/1');
      client.socket.write(bytes);
      await client.closed;
      expect(client.said(), what).toMatch(/101 Switching Protocols/);
    }
    expect(await say(server, id, 'echo usable')).toBe('usable\n');
  });

  const piece = (length: number) => Buffer.concat([Buffer.from([2]), uint32(length), Buffer.alloc(length)]);
});
