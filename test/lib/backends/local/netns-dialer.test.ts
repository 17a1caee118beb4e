import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect } from 'vitest';
import {
  createNamespaceDialer,
  type NamespaceDialer,
} from '../../../../src/lib/backends/local/netns-dialer.ts';
import { asRoot, requireOrSkip } from '../../../support/require.ts';

const ways = { user: ['--user', '--map-root-user', '--net'], root: ['--net'] };
const call = { signal: new AbortController().signal };
const children = () => readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ');
const can = (way: string[]) => spawnSync('unshare', [...way, 'ip', 'link', 'set', 'lo', 'up']).status === 0;

describe.each([
  ['user', 'unprivileged user namespaces'],
  ['root', 'root'],
] as const)('a network namespace made by %s', (kind, need) => {
  const test = (kind === 'root' ? asRoot : requireOrSkip)(can(ways[kind]), need);
  const open: (NamespaceDialer | ChildProcess)[] = [];
  afterEach(() => {
    for (const each of open.splice(0)) 'dial' in each ? each.close() : each.kill('SIGKILL');
  });

  async function enter(): Promise<{ dialer: NamespaceDialer; box: ChildProcess }> {
    const script = 'ip link set lo up && echo up && exec sleep 1000';
    const box = spawn('unshare', [...ways[kind], 'sh', '-c', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(box.stdout, 'data');
    const dialer = createNamespaceDialer({ pid: box.pid ?? 0, userns: kind === 'user' });
    open.push(box, dialer);
    return { dialer, box };
  }

  test('is dialed and listened in, apart from the network outside', async () => {
    const { dialer } = await enter();
    const listener = await dialer.listen({ port: 0 }, (socket: Duplex) => socket.pipe(socket), call);
    const answers = Array.from({ length: 100 }, async (_, i) => {
      const socket = await dialer.dial({ port: listener.port }, call);
      socket.end(`client ${i}`);
      return await text(socket);
    });
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 100 }, (_, i) => `client ${i}`));
    await expect(dialer.listen({ port: listener.port }, () => undefined, call)).rejects.toMatchObject({
      code: 'conflict',
    });
    await listener.close();
    await expect(dialer.dial({ port: listener.port }, call)).rejects.toMatchObject({
      code: 'unreachable',
      cause: { code: 'ECONNREFUSED' },
    });
  });

  test('reaches ::1, and loses no byte that comes with the connection', async () => {
    const { dialer } = await enter();
    const greeting = 'x'.repeat(50_000);
    const listener = await dialer.listen(
      { port: 0, host: '::1' },
      (socket: Duplex) => socket.end(greeting),
      call,
    );
    const socket = await dialer.dial({ port: listener.port }, call);
    expect(await text(socket)).toBe(greeting);
    await listener.close();
  });

  test('ends one direction alone', async () => {
    const { dialer } = await enter();
    const listener = await dialer.listen(
      { port: 0 },
      (socket: Duplex) => {
        socket.resume();
        socket.once('end', () => socket.end('after'));
      },
      call,
    );
    const socket = await dialer.dial({ port: listener.port }, call);
    socket.end();
    expect(await text(socket)).toBe('after');
    await listener.close();
  });

  test('is entered again when the helper was killed, and what waited fails', async () => {
    const { dialer } = await enter();
    const before = children();
    const listener = await dialer.listen({ port: 0 }, (socket: Duplex) => socket.end('hi'), call);
    const [helper] = children().filter((pid) => !before.includes(pid));
    process.kill(Number(helper), 'SIGSTOP');
    const waiting = dialer.dial({ port: listener.port }, call);
    process.kill(Number(helper), 'SIGKILL');
    await expect(waiting).rejects.toMatchObject({ code: 'unreachable' });
    expect(await text(await dialer.dial({ port: listener.port }, call))).toBe('hi');
    await listener.close();
  });

  test('is given up when it cannot be entered or the call is aborted', async () => {
    const { dialer, box } = await enter();
    await expect(dialer.dial({ port: 1 }, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'interrupted',
    });
    const gone = createNamespaceDialer({ pid: 2 ** 22 - 1, userns: kind === 'user' });
    await expect(gone.dial({ port: 1 }, call)).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining("cannot enter the sandbox's network"),
    });
    box.kill('SIGKILL');
  });
});
