import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import Create from '../../src/commands/create.ts';
import Forward from '../../src/commands/forward/index.ts';
import ForwardLs from '../../src/commands/forward/ls.ts';
import ForwardStop from '../../src/commands/forward/stop.ts';
import type { Backend } from '../../src/lib/backend/contract.ts';
import { createMemoryBackend } from '../../src/lib/backends/memory/index.ts';
import type { MemoryIo } from '../../src/lib/cli/memory-io.ts';
import { SignalHub } from '../../src/lib/cli/signals.ts';
import { recordPath } from '../../src/lib/ops/forward/records.ts';
import { type HostSandbox, hostSandbox, listen } from '../lib/ops/forward/host-sandbox.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';

const commands = { create: Create, forward: Forward, 'forward:ls': ForwardLs, 'forward:stop': ForwardStop };
const lines: CommandLine[] = [];
const servers: ReturnType<typeof createServer>[] = [];
let line: CommandLine;
let sandbox: HostSandbox;

beforeEach(() => {
  sandbox = hostSandbox();
  const host: Backend = {
    ...createMemoryBackend({ name: 'host' }),
    get: async () => sandbox,
    async *list(_, call) {
      yield await sandbox.info(call);
    },
  };
  line = commandLine({ commands, backends: [host] });
  lines.push(line);
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
afterAll(async () => {
  for (const each of lines) await each[Symbol.asyncDispose]();
});

async function echo(): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, (socket: Socket) => socket.pipe(socket));
  servers.push(server);
  return await listen(server);
}

/** Starts `forward` and waits until its output holds `wanted`. */
async function start(argv: readonly string[], wanted: RegExp) {
  const signals = new SignalHub();
  let io: MemoryIo | undefined;
  const running = line.run(['forward', ...argv], {
    signals,
    watch: (streams) => {
      io = streams;
    },
  });
  await expect.poll(() => `${io?.stdout.text}${io?.stderr.text}`).toMatch(wanted);
  return { signals, running, output: () => `${io?.stdout.text}${io?.stderr.text}` };
}

async function ask(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.end('ping');
  return await text(socket);
}

describe('sbx forward', () => {
  it('says on stderr what listens, works, and exits 0 on Ctrl-C', async () => {
    const remote = await echo();
    const { signals, running, output } = await start(['host/box', `:${remote}`], / -> /);
    expect(await ask(Number(/:(\d+) ->/.exec(output())?.[1]))).toBe('ping');
    signals.deliver('SIGINT');
    expect(await running).toEqual({
      exit: 0,
      stdout: '',
      stderr: expect.stringMatching(new RegExp(`^127.0.0.1:\\d+ -> ${remote}\n$`)),
    });
  });

  it('--json prints one line a forward, with nothing on stderr', async () => {
    const [a, b] = [await echo(), await echo()];
    const { signals, running } = await start(
      ['host/box', `:${a},:${b}`, '--json'],
      new RegExp(`"remote":${b}}`),
    );
    signals.deliver('SIGTERM');
    const { exit, stdout, stderr } = await running;
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(
      stdout
        .trim()
        .split('\n')
        .map((each) => JSON.parse(each)),
    ).toEqual(
      [a, b].map((remote) => ({
        sandbox: 'box',
        backend: 'host',
        direction: 'forward',
        address: '127.0.0.1',
        port: expect.any(Number),
        remote,
      })),
    );
  });

  it('says that a bare port moved', async () => {
    const remote = await echo();
    const { signals, running } = await start(['host/box', String(remote)], / -> /);
    signals.deliver('SIGINT');
    expect((await running).stderr).toContain(`port ${remote} is in use on this machine; using `);
  });

  it('exits 1 when an explicit port is taken and when the sandbox goes', async () => {
    const remote = await echo();
    expect(await line.run(['forward', 'host/box', `${remote}:80`])).toMatchObject({
      exit: 1,
      stdout: '',
      stderr: expect.stringContaining('is in use'),
    });
    const { running } = await start(['host/box', `:${remote}`], / -> /);
    sandbox.state = undefined;
    expect(await running).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining("error: sandbox 'box' was removed; its forwards are closed\n"),
    });
  });

  it.each([
    [['host/box']],
    [['host/box', '0']],
    [['host/box', 'x']],
    [['host/box', '1', '--address', 'x']],
    [['host/box', '1', '--reverse', '--all']],
  ])('refuses %j before it does anything', async (argv) => {
    expect(await line.run(['forward', ...argv])).toMatchObject({
      exit: 2,
      stdout: '',
      stderr: expect.stringMatching(/^error: .*\nhint: |^error: /),
    });
  });

  it('says what the backend cannot do, with exit 5', async () => {
    await line.run(['create', 'plain']);
    expect(await line.run(['forward', 'memory/plain', '80', '--reverse'])).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("backend 'memory' does not support listen"),
    });
  });
});

describe('sbx forward ls and stop', () => {
  it('show nothing where there is nothing', async () => {
    expect(await line.run(['forward', 'ls', '--json'])).toEqual({ exit: 0, stdout: '[]\n', stderr: '' });
    expect(await line.run(['forward', 'stop', '--all'])).toEqual({ exit: 0, stdout: '', stderr: '' });
    expect(await line.run(['forward', 'stop'])).toMatchObject({ exit: 2 });
    expect(await line.run(['forward', 'stop', 'abcdef'])).toMatchObject({ exit: 3 });
    expect(await line.run(['forward', 'stop', '../../x'])).toMatchObject({ exit: 2 });
  });

  it('do not take another process for ours: same number, other start', async () => {
    const record = {
      id: 'abc123',
      pid: process.pid,
      identity: 'another',
      sandbox: 'b\u001b[31mx',
      backend: 'host',
      createdAt: '2024-01-01T00:00:00Z',
      forwards: [],
    };
    const state = `${line.folder}/state`;
    mkdirSync(`${state}/forwards`, { recursive: true });
    writeFileSync(recordPath(state, 'abc123'), JSON.stringify(record));
    writeFileSync(recordPath(state, 'bad000'), '{');
    const { exit, stdout, stderr } = await line.run(['forward', 'ls']);
    expect(stdout).toMatch(/abc123 +b\\e\[31mx +- +ended/);
    expect({ exit, stderr }).toEqual({
      exit: 1,
      stderr: expect.stringContaining('bad000.json: it is not valid JSON'),
    });
    // Were it taken for ours, this would kill the test itself.
    expect(await line.run(['forward', 'stop', 'abc123'])).toMatchObject({
      exit: 0,
      stderr: 'stopped abc123\n',
    });
  });
});
