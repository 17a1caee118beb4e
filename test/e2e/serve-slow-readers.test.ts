/** Clients of `sbx serve` that do not read: whoever writes is held back, and the server's memory stays as it is. */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { type BuiltServer, KEY } from '../support/built-server.ts';
import { forgetPeak, memoryOf } from '../support/memory-of.ts';
import { type RawClient, rawClient } from '../support/raw-client.ts';
import { answer, madeOn, say, serverHost, builtTest as test } from '../support/server-host.ts';

const host = serverHost();
const MB = 1e6;
/** Megabytes that the server may hold more than before, whatever is sent through it. */
const MORE = 128;
/** Bytes that it reads in a hundred milliseconds for reasons of its own. */
const MURMUR = 64_000;

/** Asks for a stream and reads no more than its beginning. */
async function unread(
  server: BuiltServer,
  method: string,
  path: string,
  body: object = {},
): Promise<RawClient> {
  const client = rawClient(server.url);
  const text = JSON.stringify(body);
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${KEY}`,
    `Content-Length: ${text.length}`,
  ];
  client.socket.write(`${head.join('\r\n')}\r\n\r\n${text}`);
  await client.until(/200 OK/);
  client.socket.pause();
  return client;
}

/** Resolves with the bytes that the server has read since `from`, once it reads no more for a second. */
async function taken({ pid }: BuiltServer, from: number): Promise<number> {
  let before = from;
  for (let quiet = 0; quiet < 10; ) {
    await pause(100);
    const now = readBytes(pid);
    quiet = now - before < MURMUR && now > from ? quiet + 1 : 0;
    before = now;
  }
  return before - from;
}

function readBytes(pid: number): number {
  return Number(/^rchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1'))?.[1]);
}

/** Runs `act`, during which the server must not grow. */
async function withoutGrowth({ pid }: BuiltServer, act: () => Promise<void>): Promise<void> {
  const before = memoryOf(pid).now;
  forgetPeak(pid);
  await act();
  const { peak } = memoryOf(pid);
  process.stdout.write(`${before.toFixed(0)} MB before, ${peak.toFixed(0)} MB at most\n`);
  expect(peak - before).toBeLessThan(MORE);
}

test('a command that prints 500 MB waits for its readers, and whoever reads on gets all of it', async () => {
  const server = await host.start(host.newState());
  const id = await madeOn(server);
  await withoutGrowth(server, async () => {
    const command = `head -c ${500 * MB} /dev/zero | tr '\\0' 0`;
    const from = readBytes(server.pid);
    const clients = await Promise.all(
      [1, 2, 3].map(() => unread(server, 'POST', `/sandboxes/${id}/exec`, { command })),
    );
    // What fills the pipes, the connections, and what lies between.
    expect(await taken(server, from)).toBeLessThan(60 * MB);
    const [reader, ...others] = clients as [RawClient, ...RawClient[]];
    for (const { socket } of others) socket.destroy();
    const { zeros, end } = await counted(reader);
    expect(end).toContain('{"type":"exit","exitCode":0}');
    expect(zeros).toBeGreaterThanOrEqual(500 * MB);
  });
}, 120_000);

/** Reads a stream to its end. */
async function counted({ socket }: RawClient): Promise<{ readonly zeros: number; readonly end: string }> {
  let zeros = 0;
  let end = '';
  socket.removeAllListeners('data');
  socket.on('data', (data) => {
    for (const byte of data) if (byte === 0x30) zeros++;
    end = `${end}${data.toString('latin1', Math.max(0, data.length - 500))}`.slice(-500);
    if (end.endsWith('0\r\n\r\n')) socket.destroy();
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.resume();
  await closed;
  return { zeros, end };
}

test('followed logs of 60 MB wait for their reader', async () => {
  const server = await host.start(host.newState());
  const id = await madeOn(server);
  const command = `head -c ${60 * MB} /dev/zero | tr '\\0' 0; sleep 1000`;
  const { procId } = await answer(server.ask('POST', `/sandboxes/${id}/processes`, { command }), 201);
  await withoutGrowth(server, async () => {
    const from = readBytes(server.pid);
    const { socket } = await unread(server, 'GET', `/sandboxes/${id}/processes/${procId}/logs?follow=1`);
    expect(await taken(server, from)).toBeLessThan(30 * MB);
    socket.destroy();
  });
  expect(await say(server, id, 'echo usable')).toBe('usable\n');
});
