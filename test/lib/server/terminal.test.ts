import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { ExecSpec, Exit, Running, TerminalSize } from '../../../src/lib/backend/contract.ts';
import { terminalRoute } from '../../../src/lib/server/routes/terminal.ts';
import { type FakeSessions, fakeSessions } from '../../support/fake-sessions.ts';
import { ID, type ServedSandbox, servedSandbox } from './served-sandbox.ts';

/** A shell that a test plays. */
interface FakeShell {
  readonly spec: ExecSpec;
  readonly output: PassThrough;
  /** What was typed and is not taken yet: each is given on by its function. */
  readonly typed: { readonly text: string; take(): void }[];
  readonly sizes: TerminalSize[];
  readonly told: string[];
  end(exit: Exit): void;
}

function fakeShell(spec: ExecSpec, onTyped: () => void): { shell: FakeShell; running: Running } {
  const { promise, resolve } = Promise.withResolvers<Exit>();
  const output = new PassThrough();
  const shell: FakeShell = {
    spec,
    output,
    typed: [],
    sizes: [],
    told: [],
    end(exit) {
      output.end();
      resolve(exit);
    },
  };
  const stdin = new Writable({
    write(chunk: Buffer, _encoding, take) {
      shell.typed.push({ text: chunk.toString(), take });
      onTyped();
    },
  });
  return {
    shell,
    running: {
      stdin,
      stdout: output,
      signal: async (name) => void shell.told.push(name),
      async terminate(graceMs) {
        shell.told.push(`terminate ${graceMs}`);
        shell.end({ signal: 'HUP' });
      },
      resize: async (size) => void shell.sizes.push(size),
      wait: () => promise,
    },
  };
}

describe('a terminal', () => {
  let server: Server;
  let box: ServedSandbox;
  let sessions: FakeSessions;
  let stopping: AbortController;
  let shell: Promise<FakeShell>;
  /** Called whenever the shell is typed to. */
  let onTyped: () => void;
  let failure: Error | undefined;
  let handled: Promise<void>;

  beforeEach(async () => {
    const started = Promise.withResolvers<FakeShell>();
    shell = started.promise;
    onTyped = () => undefined;
    failure = undefined;
    sessions = fakeSessions('old');
    box = servedSandbox({
      async exec(spec) {
        if (failure !== undefined) throw failure;
        const made = fakeShell(spec, () => onTyped());
        started.resolve(made.shell);
        return made.running;
      },
      can: { terminal: true, sessions },
    });
    stopping = new AbortController();
    const route = terminalRoute({ fleet: box.fleet, having: () => [] } as never);
    server = createServer();
    server.on('upgrade', (request, socket, head) => {
      const { searchParams: query } = new URL(`http://server${request.url}`);
      handled = route.handle({ request, socket, head, params: { id: ID }, query, signal: stopping.signal });
      handled.catch((error: Error) => socket.end(`HTTP/1.1 400 ${error.message}\r\n\r\n`));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(async () => {
    server.close();
    await handled.catch(() => 'told already');
    expect(box.uses()).toBe(0);
  });

  const connect = (query = ''): WebSocket => {
    const { port } = server.address() as AddressInfo;
    return new WebSocket(`ws://127.0.0.1:${port}/${query}`);
  };
  const open = async (query = ''): Promise<WebSocket> => {
    const socket = connect(query);
    await once(socket, 'open');
    return socket;
  };
  const next = async (socket: WebSocket) => String((await once(socket, 'message'))[0]);
  const end = async (socket: WebSocket): Promise<[code: number, reason: string]> => {
    const [code, reason] = (await once(socket, 'close')) as [number, Buffer];
    return [code, String(reason)];
  };

  test('is a login shell with a terminal of that size, and closes when it ends', async () => {
    const socket = await open('?cols=100&rows=30');
    const { spec, output, end: endShell } = await shell;
    expect(spec).toMatchObject({ stdin: 'pipe', terminal: { cols: 100, rows: 30, term: 'xterm-256color' } });
    expect(spec.argv.join(' ')).toContain('-l');
    const said = next(socket);
    output.write('prompt');
    expect(await said).toBe('prompt');
    const closed = end(socket);
    endShell({ code: 0 });
    expect(await closed).toEqual([1000, 'the shell has ended']);
  });

  test('keys wait for a program that does not read, sizes stay in order, and all is activity', async () => {
    const socket = await open();
    const { typed, sizes } = await shell;
    const first = Promise.withResolvers<void>();
    onTyped = first.resolve;
    socket.send(Buffer.from('one'));
    socket.send('{"type":"resize","cols":5,"rows":6}');
    socket.send('{"type":"resize","cols":0,"rows":6}');
    socket.send(Buffer.from('two'));
    socket.ping();
    await Promise.all([first.promise, once(socket, 'pong')]);
    expect([typed.map(({ text }) => text), sizes, box.touches()]).toEqual([['one'], [], 1]);
    const second = Promise.withResolvers<void>();
    onTyped = second.resolve;
    typed[0]?.take();
    await second.promise;
    expect([typed.map(({ text }) => text), sizes, box.touches()]).toEqual([
      ['one', 'two'],
      [{ cols: 5, rows: 6 }],
      2,
    ]);
    socket.terminate();
  });

  test('a client that reads slowly holds the shell back', async () => {
    const socket = await open();
    const { output } = await shell;
    const piece = Buffer.alloc(64 * 1024);
    const total = 1024 * piece.length;
    let made = 0;
    const pieces = function* () {
      for (; made < total; made += piece.length) yield piece;
    };
    let received = 0;
    let most = 0;
    const all = Promise.withResolvers<void>();
    socket.on('message', (data: Buffer) => {
      most = Math.max(most, made - received);
      received += data.length;
      if (received === total) all.resolve();
    });
    Readable.from(pieces()).pipe(output);
    await all.promise;
    // What the system's own buffers hold, and not all of it.
    expect(most).toBeLessThan(total / 2);
    socket.close();
  });

  test('when the client leaves, the shell is told to hang up', async () => {
    const socket = await open();
    const { told } = await shell;
    socket.close();
    await handled;
    expect(told).toEqual(['HUP', 'terminate 2000']);
  });

  test('when the server stops, the client is told so', async () => {
    const socket = await open();
    await shell;
    const closed = end(socket);
    stopping.abort();
    expect(await closed).toEqual([1001, 'the server is stopping']);
  });

  test('why there is none is a text frame', async () => {
    failure = new Error('no shell here');
    const socket = connect();
    const said = next(socket);
    const closed = end(socket);
    expect(await said).toBe('no shell here');
    expect(await closed).toEqual([1011, 'the terminal failed']);
  });

  test.each(['?cols=0', '?rows=x', '?cols=70000', '?rows=1.5'])('%s is refused', async (query) => {
    await expect(open(query)).rejects.toThrow('400');
  });

  describe('of a session', () => {
    test('shows what it prints, and goes on without its client', async () => {
      const socket = await open('?session=old');
      await expect.poll(() => sessions.readers('old')).toBe(1);
      const said = next(socket);
      sessions.print('old', 'hello');
      expect(await said).toBe('hello');
      socket.close();
      await handled;
      expect([sessions.readers('old'), sessions.asked]).toEqual([0, ['attach old']]);
      expect(await sessions.list({ signal: stopping.signal })).toMatchObject([{ state: 'running' }]);
    });

    test('is made where it is missing', async () => {
      const socket = await open('?session=new&cols=90&rows=20');
      await expect.poll(() => sessions.readers('new')).toBe(1);
      expect(sessions.asked).toEqual(['attach new', 'create new', 'attach new']);
      expect(await sessions.list({ signal: stopping.signal })).toContainEqual(
        expect.objectContaining({ name: 'new', size: { cols: 90, rows: 20 } }),
      );
      socket.close();
    });

    test('closes when it ends', async () => {
      const socket = await open('?session=old');
      await expect.poll(() => sessions.readers('old')).toBe(1);
      const closed = end(socket);
      sessions.end('old', { code: 0 });
      expect(await closed).toEqual([1000, 'the session has ended']);
    });

    test('is left when the server stops', async () => {
      const socket = await open('?session=old');
      await expect.poll(() => sessions.readers('old')).toBe(1);
      const closed = end(socket);
      stopping.abort();
      expect(await closed).toEqual([1001, 'the server is stopping']);
      expect(sessions.readers('old')).toBe(0);
    });
  });
});
