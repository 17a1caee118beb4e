import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionChannel } from '../../../../src/lib/backend/contract.ts';
import {
  attachInFolder,
  openSession,
  readRecording,
} from '../../../../src/lib/backend/derived/session-folder.ts';
import { type Packet, packetReader } from '../../../../src/lib/wire/dtach.ts';
import { call, SIZE, screenOf, type } from '../../../support/session-box.ts';

let root: string;
let guest: string;
let folder: string;
let servers: Server[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'sbx-'));
  guest = join(root, 'guest');
  folder = join(guest, 'sessions', 'main');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'taken'), '');
  servers = [];
});
afterEach(async () => {
  for (const server of servers) {
    server.close();
  }
  rmSync(root, { recursive: true, force: true });
});

/** Somebody behind a socket who is not dtach. */
async function listen(path: string, onSocket: (socket: Socket) => void): Promise<void> {
  const server = createServer(onSocket);
  servers.push(server);
  // By a short path: that of the folder may be too long for an address.
  const short = join(root, 's');
  server.listen(short);
  await once(server, 'listening');
  renameSync(short, path);
}

interface Master {
  readonly packets: Packet[];
  readonly sockets: Socket[];
  /** Resolves when a packet came that `fits`. */
  until(fits: (packet: Packet) => boolean): Promise<void>;
}

async function master(onPacket?: (packet: Packet, socket: Socket) => void): Promise<Master> {
  const packets: Packet[] = [];
  const sockets: Socket[] = [];
  const waiting = new Set<() => void>();
  await listen(join(folder, 'socket'), (socket) => {
    sockets.push(socket);
    const read = packetReader();
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      for (const packet of read(data)) {
        packets.push(packet);
        onPacket?.(packet, socket);
      }
      for (const look of [...waiting]) look();
    });
  });
  return {
    packets,
    sockets,
    until: (fits) =>
      new Promise((resolve) => {
        const look = () => {
          if (packets.some(fits)) resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

async function attach(
  options: { readOnly?: boolean; takeOver?: boolean; running?: boolean } = {},
): Promise<SessionChannel> {
  const session = await openSession(guest, 'main');
  if (session === undefined) throw new Error('no folder');
  const { running = true, ...rest } = options;
  return await attachInFolder(
    session,
    { ...rest, size: SIZE, sandbox: 'box', name: 'main', isRunning: () => running },
    call,
  );
}

const isPush = ({ type }: Packet) => type === 'push';

describe('attaching in a folder', () => {
  it('says who it is and the size, then keys, sizes and redraws in order', async () => {
    const { packets, until } = await master();
    const channel = await attach();
    channel.resize({ cols: 10, rows: 5 });
    channel.redraw({ cols: 11, rows: 6 });
    await type(channel, 'hello, world');
    await until((packet) => packet.type === 'push' && packet.data.toString() === 'orld');
    expect(packets).toEqual([
      { type: 'attach' },
      { type: 'redraw', method: 3, size: SIZE },
      { type: 'size', size: { cols: 10, rows: 5 } },
      { type: 'redraw', method: 3, size: { cols: 11, rows: 6 } },
      { type: 'push', data: Buffer.from('hello, w') },
      { type: 'push', data: Buffer.from('orld') },
    ]);
    channel.close();
    expect(await channel.closed).toEqual({ reason: 'closed' });
  });

  it('says nothing but that when it only reads', async () => {
    const { packets, sockets, until } = await master();
    const channel = await attach({ readOnly: true });
    channel.resize(SIZE);
    channel.redraw(SIZE);
    await type(channel, 'hello');
    await until(({ type }) => type === 'attach');
    channel.close();
    await once(sockets[0] as Socket, 'close');
    expect(packets).toEqual([{ type: 'attach' }]);
  });

  it('reads on while nobody takes what is typed', async () => {
    let first: Socket | undefined;
    await listen(join(folder, 'socket'), (socket) => {
      first = socket;
      socket.once('data', () => {
        socket.pause();
        socket.write('out');
      });
    });
    const channel = await attach();
    const screen = screenOf(channel);
    let taken = false;
    channel.input.write(Buffer.alloc(4 << 20), () => {
      taken = true;
    });
    await screen.until('out');
    first?.write(Buffer.alloc(1 << 20, 'x'));
    first?.write('end');
    await screen.until('end');
    expect(taken).toBe(false);
    channel.close();
    await channel.closed;
  });

  it('ends with the exit that was recorded before the socket closed', async () => {
    const { sockets, until } = await master();
    const channel = await attach();
    const screen = screenOf(channel);
    await until(({ type }) => type === 'redraw');
    writeFileSync(join(folder, 'exit'), '7 1000\n');
    sockets[0]?.end('last');
    expect(await channel.closed).toEqual({ reason: 'ended', exit: { code: 7 } });
    expect(screen.text()).toBe('last');
  });

  it('waits for the exit that is recorded after the socket is gone', async () => {
    const { sockets, until } = await master();
    const channel = await attach();
    screenOf(channel);
    await until(({ type }) => type === 'redraw');
    unlinkSync(join(folder, 'socket'));
    // Late enough for it to be missed by whoever looks only once.
    channel.output.once('end', () => setTimeout(() => writeFileSync(join(folder, 'exit'), '3 1000\n'), 50));
    sockets[0]?.end();
    expect(await channel.closed).toEqual({ reason: 'ended', exit: { code: 3 } });
  });

  it('does not wait in a sandbox that was stopped', async () => {
    const { sockets, until } = await master();
    const channel = await attach({ running: false });
    screenOf(channel);
    await until(({ type }) => type === 'redraw');
    unlinkSync(join(folder, 'socket'));
    sockets[0]?.end();
    expect(await channel.closed).toEqual({ reason: 'ended' });
  });

  it('is lost, not ended, when somebody still answers', async () => {
    const { sockets, until } = await master();
    const channel = await attach();
    screenOf(channel);
    await until(({ type }) => type === 'redraw');
    sockets[0]?.destroy();
    expect(await channel.closed).toMatchObject({ reason: 'lost' });
  });

  it('makes the others leave when it takes over, and the last one stays', async () => {
    const { until, packets } = await master();
    const channels = [await attach(), await attach({ readOnly: true })];
    channels.forEach(screenOf);
    const last = await attach({ takeOver: true });
    screenOf(last);
    expect(await Promise.all(channels.map(({ closed }) => closed))).toEqual([
      { reason: 'taken' },
      { reason: 'taken' },
    ]);
    await type(last, 'x');
    await until(isPush);
    expect(packets.filter(isPush)).toHaveLength(1);
    last.close();
    await last.closed;
  });

  it('reaches a socket whose path is longer than an address', async () => {
    const deep = join(root, 'd'.repeat(120));
    mkdirSync(deep);
    renameSync(guest, join(deep, 'guest'));
    guest = join(deep, 'guest');
    folder = join(guest, 'sessions', 'main');
    const { until } = await master();
    const channel = await attach();
    await until(({ type }) => type === 'attach');
    channel.close();
    await channel.closed;
  });
});

describe('a folder that the sandbox fills as it likes', () => {
  it('leads nowhere through symlinks', async () => {
    const outside = join(root, 'outside');
    mkdirSync(outside);
    let dialed = 0;
    await listen(join(outside, 'socket'), () => dialed++);
    writeFileSync(join(outside, 'recording'), 'secret');
    writeFileSync(join(outside, 'exit'), '0 1\n');
    symlinkSync(join(outside, 'socket'), join(folder, 'socket'));
    await expect(attach()).rejects.toMatchObject({ code: 'conflict' });
    symlinkSync(join(outside, 'recording'), join(folder, 'recording'));
    expect(await recording(100)).toBe('');
    rmSync(folder, { recursive: true });
    symlinkSync(outside, folder);
    expect(await openSession(guest, 'main')).toBeUndefined();
    rmSync(join(guest, 'sessions'), { recursive: true });
    mkdirSync(join(outside, 'main'));
    symlinkSync(outside, join(guest, 'sessions'));
    expect(await openSession(guest, 'main')).toBeUndefined();
    expect(dialed).toBe(0);
  });

  it('holds nobody up with FIFOs', async () => {
    for (const name of ['socket', 'recording', 'exit']) execFileSync('mkfifo', [join(folder, name)]);
    await expect(attach()).rejects.toMatchObject({ code: 'conflict' });
    expect(await recording(100)).toBe('');
    unlinkSync(join(folder, 'socket'));
    unlinkSync(join(folder, 'taken'));
    execFileSync('mkfifo', [join(folder, 'taken')]);
    const { sockets, until } = await master();
    const channel = await attach({ takeOver: true, running: false });
    screenOf(channel);
    await until(({ type }) => type === 'redraw');
    unlinkSync(join(folder, 'socket'));
    sockets[0]?.end();
    expect(await channel.closed).toEqual({ reason: 'ended' });
  });

  it('fills no memory with giant files', async () => {
    for (const name of ['recording', 'exit', 'taken']) {
      writeFileSync(join(folder, name), '');
      truncateSync(join(folder, name), 2 ** 40);
    }
    appendFileSync(join(folder, 'recording'), 'the end');
    expect(await recording(10)).toBe('\0\0\0the end');
    const { sockets, until } = await master();
    const channel = await attach({ takeOver: true });
    screenOf(channel);
    await until(({ type }) => type === 'redraw');
    sockets[0]?.destroy();
    expect((await channel.closed).reason).toBe('ended');
  });

  it('with a socket that nobody listens to is an ended session', async () => {
    await master();
    for (const server of servers) await new Promise((done) => server.close(done));
    await expect(attach()).rejects.toMatchObject({ code: 'conflict' });
  });
});

async function recording(bytes: number): Promise<string> {
  const session = await openSession(guest, 'main');
  if (session === undefined) throw new Error('no folder');
  try {
    return Buffer.from(await readRecording(session, bytes)).toString('latin1');
  } finally {
    await session.close();
  }
}
