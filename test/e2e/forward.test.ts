/** `sbx forward` as a process, into a local sandbox. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buffer, text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { requireOrSkip } from '../support/require.ts';

const root = new URL('../../', import.meta.url).pathname;
const bin = `${root}bin/run.js`;
const state = mkdtempSync(join(tmpdir(), 'sbx-e2e-'));
const env = { ...process.env, SBX_STATE_DIR: state, NO_COLOR: '1' };

interface Done {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

function sbx(...args: string[]): Promise<Done> {
  return new Promise((resolve) => {
    execFile(process.execPath, [bin, ...args], { env, timeout: 60_000 }, (error, stdout, stderr) => {
      const exit = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ exit, stdout, stderr });
    });
  });
}

const usable = existsSync(`${root}dist/run.js`) && (await sbx('create', 'probe')).exit === 0;
const test = requireOrSkip(usable, 'a built sbx and the local backend');

/** In the sandbox: answers each connection with the hash of what it got, once the client has ended its direction. */
const HASHES = `
import hashlib, socketserver
class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        digest = hashlib.sha256()
        while data := self.request.recv(65536):
            digest.update(data)
        self.request.sendall(digest.hexdigest().encode())
class Server(socketserver.ThreadingTCPServer):
    request_queue_size = 1024
    allow_reuse_address = True
Server(("127.0.0.1", 7001), Handler).serve_forever()
`;
/** In the sandbox: writes zeros for ever to whoever connects. */
const FLOOD = `
import socketserver
class Handler(socketserver.BaseRequestHandler):
    def handle(self):
        try:
            while True:
                self.request.sendall(bytes(65536))
        except OSError:
            pass
class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
Server(("0.0.0.0", 7002), Handler).serve_forever()
`;

describe('sbx forward', { timeout: 60_000 }, () => {
  const open: ChildProcess[] = [];
  beforeAll(async () => {
    if (!usable) return;
    expect(await sbx('create', 'box')).toMatchObject({ exit: 0 });
    for (const code of [HASHES, FLOOD])
      expect(await sbx('exec', '-d', 'box', '--', 'python3', '-c', code)).toMatchObject({ exit: 0 });
    for (const port of ['7001', '7002'])
      expect(await sbx('ports', 'wait', 'box', port, '--timeout', '30s')).toMatchObject({ exit: 0 });
  }, 60_000);
  afterEach(() => {
    for (const child of open.splice(0)) child.kill('SIGKILL');
  });
  afterAll(async () => {
    await sbx('forward', 'stop', '--all');
    await sbx('rm', '--force', 'box', 'probe');
    rmSync(state, { recursive: true, force: true });
  }, 60_000);

  /** Starts a forward and waits for its first line of JSON. */
  async function forward(...args: string[]) {
    const child = spawn(process.execPath, [bin, 'forward', ...args, '--json'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    open.push(child);
    const stderr = text(child.stderr);
    const [line] = await Promise.race([
      once(createInterface(child.stdout), 'line'),
      once(child, 'close').then(async () => [await stderr]),
    ]);
    const { port, remote } = JSON.parse(String(line)) as { port: number; remote: number };
    const ended = once(child, 'close').then(async ([code]) => ({ exit: code, stderr: await stderr }));
    return { child, port, remote, ended };
  }

  async function hashOf(port: number, data: Buffer): Promise<string> {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.end(data);
    return await text(socket);
  }

  /** Resolves when the process has stopped using the processor: all buffers on the way are full. */
  async function untilIdle({ pid }: ChildProcess): Promise<void> {
    const ticks = () =>
      readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /, '').split(' ').slice(11, 13).join();
    for (let last = ''; last !== ticks(); await delay(200)) last = ticks();
  }

  const sha = (data: Buffer) => createHash('sha256').update(data).digest('hex');

  test('carries 500 connections at once, each half-closed, and ends with 0 on Ctrl-C', async () => {
    const { child, port, ended } = await forward('box', ':7001');
    const all = Array.from({ length: 500 }, (_, i) => Buffer.alloc(20_000, `client ${i} `));
    expect(await Promise.all(all.map((data) => hashOf(port, data)))).toEqual(all.map(sha));
    child.kill('SIGINT');
    expect(await ended).toEqual({ exit: 0, stderr: '' });
  });

  test('takes no more memory for a reader that sleeps', async () => {
    const { child, port } = await forward('box', ':7002');
    const rss = () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1024;
    const before = rss();
    const socket = connect({ port, host: '127.0.0.1' });
    socket.pause();
    await once(socket, 'connect');
    await untilIdle(child);
    expect(rss() - before).toBeLessThan(30 * 1024 * 1024);
    let read = 0;
    for await (const part of socket as AsyncIterable<Buffer>) {
      read += part.length;
      if (read > 300 * 1024 * 1024) break;
    }
    // What the collector leaves for a while; the same after gigabytes.
    expect(rss() - before).toBeLessThan(150 * 1024 * 1024);
  });

  test('lets the sandbox reach this machine in reverse', async () => {
    const server = createServer({ allowHalfOpen: true }, async (socket) => {
      socket.end(`hello ${(await buffer(socket)).toString()}`);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const local = typeof address === 'object' ? address?.port : 0;
    const { remote } = await forward('box', '--reverse', `${local}:0`);
    const code = `import socket,sys; s=socket.create_connection(("127.0.0.1",${remote})); s.sendall(b"from inside"); s.shutdown(1); print(s.recv(100).decode())`;
    expect(await sbx('exec', 'box', '--', 'python3', '-c', code)).toMatchObject({
      exit: 0,
      stdout: 'hello from inside\n',
    });
    server.close();
  });

  test('leaves no helper behind when it is killed', async () => {
    const { child, port } = await forward('box', ':7001');
    expect(await hashOf(port, Buffer.from('x'))).toBe(sha(Buffer.from('x')));
    const { pid } = child;
    const helpers = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter(Boolean);
    child.kill('SIGKILL');
    await expect
      .poll(() => helpers.filter((each) => existsSync(`/proc/${each}`)), { timeout: 10_000 })
      .toEqual([]);
  });

  test('refuses an explicit pair whose port is taken, and says which', async () => {
    const { port } = await forward('box', ':7001');
    expect(await sbx('forward', 'box', `${port}:7001`)).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining(`127.0.0.1:${port} is in use on this machine`),
    });
  });

  test('stays in the background, is listed honestly after a kill, and is stopped', async () => {
    const started = await sbx('forward', 'box', ':7001', '--background', '--json');
    expect(started).toMatchObject({ exit: 0, stderr: '' });
    const { id, pid, forwards } = JSON.parse(started.stdout);
    expect(await hashOf(forwards[0].port, Buffer.from('x'))).toBe(sha(Buffer.from('x')));
    const list = async () => JSON.parse((await sbx('forward', 'ls', '--json')).stdout);
    expect(await list()).toMatchObject([{ id, pid, state: 'running', sandbox: 'box' }]);
    process.kill(pid, 'SIGKILL');
    await expect.poll(list).toMatchObject([{ id, state: 'ended' }]);
    expect(await sbx('forward', 'stop', id)).toMatchObject({ exit: 0 });
    expect(await list()).toEqual([]);
    expect(await sbx('forward', 'stop', id)).toMatchObject({ exit: 3 });
  });

  test('in the background fails as it would in front, and leaves nothing', async () => {
    const { port } = await forward('box', ':7001');
    const failed = await sbx('forward', 'box', `${port}:7001`, '--background');
    expect(failed).toMatchObject({
      exit: 1,
      stdout: '',
      stderr: expect.stringContaining('is in use on this machine'),
    });
    expect((await sbx('forward', 'ls', '-q')).stdout).toBe('');
  });

  test('says so and exits 1 when the sandbox stops or is removed underneath', async () => {
    await sbx('create', 'other');
    const first = await forward('other', ':80');
    await sbx('stop', 'other');
    expect(await first.ended).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining("sandbox 'other' stopped"),
    });
    await sbx('start', 'other');
    const behind = JSON.parse((await sbx('forward', 'other', ':80', '--background', '--json')).stdout);
    await sbx('rm', '--force', 'other');
    const list = async () => JSON.parse((await sbx('forward', 'ls', '--json')).stdout);
    await expect
      .poll(list, { timeout: 20_000 })
      .toMatchObject([
        { id: behind.id, state: 'ended', lastLine: "sandbox 'other' was removed; its forwards are closed" },
      ]);
    await sbx('forward', 'stop', behind.id);
  });
});
