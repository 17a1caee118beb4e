import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { connect as connectH2, createServer as createH2 } from 'node:http2';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, expect, it } from 'vitest';
import { WebSocket, WebSocketServer, type WebSocket as Ws } from 'ws';
import { type ForwardPlan, runForward } from '../../../../src/lib/ops/forward/run.ts';
import { parseForwardSpecs } from '../../../../src/lib/ops/forward/spec.ts';
import { forwardText } from '../../../../src/lib/ops/forward/types.ts';
import { hostSandbox, listen, recordHooks } from './host-sandbox.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** A service "in the sandbox". */
async function serve(onConnection: (socket: Socket) => void, port = 0): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, onConnection);
  cleanups.push(() => server.close());
  return await listen(server, port);
}

const echo = (socket: Socket) => socket.pipe(socket);

/** Runs a forward until the test ends. */
async function forward(specs: string[], more: Partial<ForwardPlan> = {}, sandbox = hostSandbox()) {
  const hooks = recordHooks();
  const end = new AbortController();
  const ready = Promise.withResolvers<void>();
  const plan: ForwardPlan = {
    specs: parseForwardSpecs(specs, { reverse: more.reverse ?? false }),
    unix: [],
    reverse: false,
    all: false,
    ...more,
  };
  const options = { having: () => [], hooks, ready: () => ready.resolve(), intervalMs: 5 };
  const ended = runForward(sandbox, plan, options, { signal: end.signal });
  ended.catch(() => undefined);
  cleanups.push(async () => {
    end.abort();
    await ended.catch(() => undefined);
  });
  await Promise.race([ready.promise, ended]);
  return { sandbox, hooks, ended, end, port: hooks.open[0]?.port ?? 0 };
}

const dial = (port: number): Socket => connect({ port, host: '127.0.0.1', allowHalfOpen: true });

/** A port that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return port;
}

async function ask(port: number, said: string): Promise<string> {
  const socket = dial(port);
  socket.end(said);
  return await text(socket);
}

it('carries bytes both ways and says what it does', async () => {
  const remote = await serve(echo);
  const { port, hooks } = await forward([`:${remote}`]);
  expect(await ask(port, 'hello')).toBe('hello');
  expect(hooks.open.map(forwardText)).toEqual([`127.0.0.1:${port} -> ${remote}`]);
});

it('keeps one direction open when the other has ended, either way round', async () => {
  const late = await serve((socket) => {
    socket.resume();
    socket.on('end', () => socket.end('after your end'));
  });
  expect(await ask((await forward([`:${late}`])).port, 'x')).toBe('after your end');

  const heard = Promise.withResolvers<string>();
  const early = await serve((socket) => {
    socket.end('bye');
    heard.resolve(text(socket));
  });
  const socket = dial((await forward([`:${early}`])).port);
  expect(await text(socket)).toBe('bye');
  socket.end('still here');
  expect(await heard.promise).toBe('still here');
});

it('closes a refused connection alone, and works once something listens', async () => {
  const remote = await freePort();
  const { port, hooks } = await forward([`:${remote}`]);
  const socket = dial(port);
  const [error] = await once(
    socket.on('error', () => undefined),
    'error',
  );
  expect(error.code).toBe('ECONNRESET');
  expect(hooks.notices).toEqual([`connection closed: nothing listens on port ${remote} in the sandbox`]);
  await serve(echo, remote);
  expect(await ask(port, 'now')).toBe('now');
});

it('passes a reset on as a reset', async () => {
  const remote = await serve((socket) => socket.once('data', () => socket.resetAndDestroy()));
  const { port } = await forward([`:${remote}`]);
  const socket = dial(port);
  socket.write('x');
  const [error] = await once(socket, 'error');
  expect(error.code).toBe('ECONNRESET');
});

it('carries 500 connections at once', async () => {
  const sockets: Socket[] = [];
  const all = Promise.withResolvers<void>();
  const remote = await serve((socket) => {
    sockets.push(socket);
    if (sockets.length === 500) all.resolve();
  });
  const { port } = await forward([`:${remote}`]);
  const answers = Array.from({ length: 500 }, (_, i) => ask(port, `client ${i}`));
  await all.promise;
  for (const socket of sockets) echo(socket);
  expect(await Promise.all(answers)).toEqual(Array.from({ length: 500 }, (_, i) => `client ${i}`));
});

it('holds a writer back while the reader sleeps, and loses nothing', async () => {
  const total = 100 * 1024 * 1024;
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  let written = 0;
  const stalled = Promise.withResolvers<void>();
  const remote = await serve((socket) => {
    socket.resume();
    socket.on('error', () => undefined);
    const write = () => {
      while (written < total) {
        written += chunk.length;
        if (!socket.write(chunk)) {
          // No drain for a while: the kernel's buffers and ours are full.
          const timer = setTimeout(stalled.resolve, 300);
          socket.once('drain', () => {
            clearTimeout(timer);
            write();
          });
          return;
        }
      }
      socket.end();
      stalled.resolve();
    };
    write();
  });
  const { port } = await forward([`:${remote}`]);
  const before = process.memoryUsage().rss;
  const socket = dial(port);
  socket.pause();
  await stalled.promise;
  expect(written).toBeLessThan(total / 2);
  expect(process.memoryUsage().rss - before).toBeLessThan(total / 2);
  let read = 0;
  for await (const part of socket as AsyncIterable<Buffer>) read += part.length;
  expect(read).toBe(total);
}, 30_000);

it('passes HTTP/2 without TLS untouched', async () => {
  const server = createH2((request, response) => {
    request.pipe(response);
  });
  cleanups.push(() => server.close());
  const { port } = await forward([`:${await listen(server as unknown as Server)}`]);
  const socket = connect({ port, host: '127.0.0.1' });
  const session = connectH2('http://box', { createConnection: () => socket });
  const bodies = await Promise.all(
    ['a', 'b', 'c'].map(async (body) => {
      const stream = session.request({ ':method': 'POST', ':path': '/' });
      stream.end(body);
      return await text(stream);
    }),
  );
  session.close();
  await once(socket, 'close');
  expect(bodies).toEqual(['a', 'b', 'c']);
});

it('passes WebSockets untouched', async () => {
  const http = createHttp();
  const server = new WebSocketServer({ server: http });
  const gone = Promise.withResolvers<void>();
  server.on('connection', (peer: Ws) => {
    peer.on('message', (data: Buffer, binary: boolean) => peer.send(data, { binary }));
    peer.on('error', gone.reject);
    peer.once('close', () => gone.resolve());
  });
  cleanups.push(() => http.close());
  const { port } = await forward([`:${await listen(http as unknown as Server)}`]);
  const client = new WebSocket(`ws://127.0.0.1:${port}`);
  await once(client, 'open');
  client.send(Buffer.alloc(300_000, 7));
  const [data] = await once(client, 'message');
  expect((data as Buffer).equals(Buffer.alloc(300_000, 7))).toBe(true);
  client.close();
  await Promise.all([once(client, 'close'), gone.promise]);
});

it('takes the next free port for a bare one that is in use, with a notice', async () => {
  const remote = await serve(echo);
  const { port, hooks } = await forward([String(remote)]);
  expect(port).toBeGreaterThan(remote);
  expect(hooks.notices).toEqual([`port ${remote} is in use on this machine; using ${port}`]);
  expect(await ask(port, 'hi')).toBe('hi');
});

it('refuses an explicit pair whose port is in use and closes what it had opened', async () => {
  const taken = await serve(echo);
  const free = await freePort();
  await expect(forward([`${free}:80`, `${taken}:80`])).rejects.toMatchObject({
    code: 'conflict',
    message: `127.0.0.1:${taken} is in use on this machine`,
  });
  const again = createServer();
  expect(await listen(again, free)).toBe(free);
  again.close();
});

it('listens in the sandbox in reverse', async () => {
  const local = await serve(echo);
  const { hooks } = await forward([`${local}:0`], { reverse: true });
  const [open] = hooks.open;
  expect(open).toMatchObject({ direction: 'reverse', address: '127.0.0.1', port: local });
  expect(await ask(open?.remote ?? 0, 'from inside')).toBe('from inside');
  expect(hooks.open.map(forwardText)).toEqual([`box:${open?.remote} -> 127.0.0.1:${local}`]);
});

it('listens on a Unix socket of this user alone, replaces a stale one and nothing else', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sbx-forward-'));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'a.sock');
  const remote = await serve(echo);
  const stale = createServer().listen(path);
  await once(stale, 'listening');
  await expect(forward([], { unix: [{ path, remote }] })).rejects.toMatchObject({ code: 'conflict' });
  // Leaves the file behind, as a killed process does.
  const file = join(folder, 'b.sock');
  const listenAndDie =
    'require("net").createServer().listen(process.argv[1], () => process.kill(process.pid, "SIGKILL"))';
  spawnSync(process.execPath, ['-e', listenAndDie, file]);
  expect(lstatSync(file).isSocket()).toBe(true);
  stale.close();

  const { hooks } = await forward([], { unix: [{ path: file, remote }] });
  expect(lstatSync(file).mode & 0o777).toBe(0o600);
  const socket = connect({ path: file, allowHalfOpen: true });
  socket.end('over a path');
  expect(await text(socket)).toBe('over a path');
  expect(hooks.open.map(forwardText)).toEqual([`${file} -> ${remote}`]);

  const plain = join(folder, 'plain');
  writeFileSync(plain, 'precious');
  await expect(forward([], { unix: [{ path: plain, remote }] })).rejects.toMatchObject({ code: 'conflict' });
  await expect(
    forward([], { unix: [{ path: join(folder, 'x'.repeat(200)), remote }] }),
  ).rejects.toMatchObject({
    code: 'failed',
  });
});

it('follows what starts and stops listening', async () => {
  const one = await serve(echo);
  const two = await serve(echo);
  const sandbox = hostSandbox();
  sandbox.ports = [{ port: one, address: '0.0.0.0' }];
  const { hooks } = await forward([], { all: true }, sandbox);
  expect(hooks.open).toMatchObject([{ remote: one }]);
  sandbox.ports = [{ port: two, address: '127.0.0.1' }];
  await hooks.until(() => hooks.open.length === 1 && hooks.open[0]?.remote === two);
  expect(await ask(hooks.open[0]?.port ?? 0, 'two')).toBe('two');
  expect(
    hooks.notices.some((line) => line.endsWith(`-> ${one} closed: nothing listens there any more`)),
  ).toBe(true);
});

it('breaks open connections when it ends, without an error', async () => {
  const remote = await serve(() => undefined);
  const { port, end, ended } = await forward([`:${remote}`]);
  const socket = dial(port);
  await once(socket, 'connect');
  const closed = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
  end.abort();
  await expect(ended).resolves.toBeUndefined();
  await closed;
  await expect(once(dial(port), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

it.each([
  ['removed', undefined, "sandbox 'box' was removed; its forwards are closed"],
  ['stopped', 'stopped' as const, "sandbox 'box' stopped; its forwards are closed"],
])('fails when the sandbox is %s underneath', async (_, state, message) => {
  const { sandbox, ended } = await forward([':1']);
  sandbox.state = state;
  await expect(ended).rejects.toMatchObject({ code: 'failed', message });
});

it('says what a backend that cannot reach ports cannot do', async () => {
  const { can: _, ...rest } = hostSandbox();
  const bare = Object.assign(rest, { can: {} });
  await expect(forward([':1'], {}, bare)).rejects.toMatchObject({ code: 'unsupported' });
  await expect(forward(['1:1'], { reverse: true }, bare)).rejects.toMatchObject({ code: 'unsupported' });
});
