import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import Create from '../../src/commands/create.ts';
import Ports from '../../src/commands/ports/index.ts';
import PortsWait from '../../src/commands/ports/wait.ts';
import { SignalHub } from '../../src/lib/cli/signals.ts';
import { listen } from '../lib/ops/forward/host-sandbox.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';

let line: CommandLine;
const servers: ReturnType<typeof createServer>[] = [];
beforeAll(async () => {
  line = commandLine({ commands: { create: Create, ports: Ports, 'ports:wait': PortsWait } });
  await line.run(['create', 'box']);
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
afterAll(() => line[Symbol.asyncDispose]());

/** The memory backend has no wall: its ports are this machine's. */
async function serve(): Promise<number> {
  const server = createServer();
  servers.push(server);
  return await listen(server);
}

describe('sbx ports', () => {
  it('lists what listens, as a table and as JSON', async () => {
    const port = await serve();
    const { exit, stdout, stderr } = await line.run(['ports', 'box']);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(stdout).toMatch(/^ *PORT +ADDRESS +PROCESS +PID\n/);
    expect(stdout).toMatch(new RegExp(`^ *${port} +127\\.0\\.0\\.1 +\\S+ +${process.pid}$`, 'm'));
    const json = JSON.parse((await line.run(['ports', 'box', '--json'])).stdout);
    expect(json).toContainEqual({
      port,
      address: '127.0.0.1',
      pid: process.pid,
      process: expect.any(String),
    });
    expect((await line.run(['ports', 'box', '-q'])).stdout.split('\n')).toContain(String(port));
  });

  it('--watch prints a line of JSON at each change and ends with the signal', async () => {
    const signals = new SignalHub();
    let seen = '';
    const running = line.run(['ports', 'box', '--watch', '--json', '--interval', '100ms'], {
      signals,
      watch: ({ stdout }) => {
        const write = stdout.write.bind(stdout);
        stdout.write = (data) => {
          seen += String(data);
          write(data);
        };
      },
    });
    const lines = () =>
      seen
        .split('\n')
        .filter(Boolean)
        .map((each) => JSON.parse(each) as { ports: { port: number }[] });
    await expect.poll(() => lines().length).toBeGreaterThan(0);
    const port = await serve();
    await expect
      .poll(() =>
        lines()
          .at(-1)
          ?.ports.some((each) => each.port === port),
      )
      .toBe(true);
    expect(lines()[0]?.ports.some((each) => each.port === port)).toBe(false);
    signals.deliver('SIGINT');
    await running;
  });
});

describe('sbx ports wait', () => {
  it('exits 0 once something listens', async () => {
    const port = await serve();
    expect(await line.run(['ports', 'wait', 'box', String(port)])).toEqual({
      exit: 0,
      stdout: '',
      stderr: '',
    });
    expect(
      JSON.parse((await line.run(['ports', 'wait', 'box', String(port), '--json'])).stdout),
    ).toMatchObject({ port });
  });

  it('takes the only running sandbox', async () => {
    const port = await serve();
    expect(await line.run(['ports', 'wait', String(port)])).toMatchObject({
      exit: 0,
      stderr: "using sandbox 'box', the only running one\n",
    });
  });

  it('waits for one that comes later', async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    const waiting = line.run(['ports', 'wait', 'box', String(port), '--timeout', '30s']);
    const script = `require('net').createServer().listen(${port}, '127.0.0.1')`;
    const child = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
    expect(await waiting).toMatchObject({ exit: 0 });
    child.kill();
  });

  it('exits 1 and says so when nothing does in time', async () => {
    expect(await line.run(['ports', 'wait', 'box', '1', '--timeout', '10ms'])).toEqual({
      exit: 1,
      stdout: '',
      stderr:
        "error: nothing listened on port 1 in sandbox 'box' within 10ms\nhint: see what does: sbx ports box\n",
    });
  });

  it.each([[['box', 'x']], [['box', '0']], [['box', '70000']], [[]]])('refuses %j', async (words) => {
    expect(await line.run(['ports', 'wait', ...words])).toMatchObject({ exit: 2, stdout: '' });
  });
});
