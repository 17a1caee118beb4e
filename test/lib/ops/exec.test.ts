import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ExecSpec, Exit, Running, Sandbox } from '../../../src/lib/backend/contract.ts';
import { createMemoryBackend } from '../../../src/lib/backends/memory/index.ts';
import { memoryManifest } from '../../../src/lib/backends/memory/manifest.ts';
import { SbxError } from '../../../src/lib/errors.ts';
import { type ExecRequest, execute, refuseLongTimeout } from '../../../src/lib/ops/exec.ts';
import { COLLECT_LIMIT, executeAndCollect } from '../../../src/lib/ops/exec-collect.ts';
import { call, countInside, plain, uniqueSleep } from '../../conformance/harness.ts';
import { closedSink, printed, testHost, testInput, testOutput } from '../../support/exec-host.ts';
import { timeless } from '../../support/later.ts';

const backend = createMemoryBackend();
let box: Sandbox;
beforeAll(async () => {
  box = await backend.create(plain, call);
});
afterAll(() => backend.dispose());

const request = (text: string, more: Partial<ExecRequest> = {}): ExecRequest => ({
  argv: ['sh', '-c', text],
  stdin: false,
  ...more,
});

describe('streams', () => {
  test('outputs arrive apart and the exit code is the command’s', async () => {
    const host = testHost();
    const ended = await execute(box, request('echo out; echo err >&2; exit 3'), host);
    expect([host.io.stdout.text(), host.io.stderr.text()]).toEqual(['out\n', 'err\n']);
    expect(ended).toMatchObject({ exitCode: 3, signal: undefined, timedOut: false });
    expect(ended.durationMs).toBeGreaterThanOrEqual(0);
  });

  test('standard input is not touched unless it is asked for', async () => {
    const host = testHost();
    host.io.stdin.source.write('of the surrounding loop');
    await execute(box, request('cat; echo end'), host);
    expect(host.io.stdout.text()).toBe('end\n');
    expect(host.io.stdin.touched()).toBe(false);
  });

  test('standard input and its end reach the command', async () => {
    const host = testHost();
    host.io.stdin.source.end('b\na\n');
    const { exitCode } = await execute(box, { argv: ['sort'], stdin: true }, host);
    expect([host.io.stdout.text(), exitCode]).toEqual(['a\nb\n', 0]);
  });

  test('an input that ended before the command started is the end of input', async () => {
    const host = testHost();
    host.io.stdin.source.end();
    host.io.stdin.source.resume();
    await new Promise((resolve) => host.io.stdin.source.once('close', resolve));
    expect((await execute(box, request('cat; exit 6', { stdin: true }), host)).exitCode).toBe(6);
  });

  test('a command that has ended is not held up by an open input', async () => {
    const host = testHost();
    const { exitCode } = await execute(
      box,
      request('head -n 1; exit 5', { stdin: true }),
      feedOnce(host, 'one\n'),
    );
    expect([host.io.stdout.text(), exitCode]).toEqual(['one\n', 5]);
    expect(host.io.stdin.source.isPaused()).toBe(true);
  });

  test('an input that cannot be read fails the call and ends the command', async () => {
    const host = testHost();
    const seconds = uniqueSleep();
    const running = execute(box, request(`echo up; sleep ${seconds}; :`, { stdin: true }), host);
    await printed(host.io.stdout, 'up');
    host.io.stdin.source.destroy(Object.assign(new Error('EISDIR: a directory'), { code: 'EISDIR' }));
    await expect(running).rejects.toMatchObject({ code: 'failed' });
    await expect.poll(() => countInside(box, seconds)).toBe(0);
  });

  test('a slow reader holds the command up', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let bytes = 0;
    const sink = new Writable({
      write(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        held.then(() => done());
      },
    });
    const host = testHost({ stdout: testOutput({ sink }) });
    const text = 'i=0; while [ $i -lt 160 ]; do head -c 65536 /dev/zero; i=$((i+1)); echo $i >&2; done';
    const running = execute(box, request(text), host);
    await printed(host.io.stderr, '\n');
    for (let before = '', still = 0; still < 10; before = host.io.stderr.text()) {
      await execute(box, request('true'), testHost());
      still = host.io.stderr.text() === before ? still + 1 : 0;
    }
    expect(host.io.stderr.text().trim().split('\n').length * 65_536).toBeLessThan(4 * 1024 * 1024);
    release();
    expect((await running).exitCode).toBe(0);
    expect(bytes).toBe(160 * 65_536);
  });

  test('a reader of stdout that has gone ends the command with 141', async () => {
    const host = testHost({ stdout: testOutput({ sink: closedSink() }) });
    const { exitCode } = await execute(box, request('while :; do echo more; done'), host);
    expect(exitCode).toBe(141);
  });

  test('a command that ignores that its reader has gone is ended too', async () => {
    const host = testHost({ stdout: testOutput({ sink: closedSink() }) });
    const text = "trap '' PIPE; while :; do echo more 2>/dev/null; sleep 0.01; done";
    expect((await execute(box, request(text), host)).exitCode).toBe(141);
  });

  test('a reader of stderr that has gone is nothing to the command', async () => {
    const host = testHost({ stderr: testOutput({ sink: closedSink() }) });
    const { exitCode } = await execute(box, request('seq 1 50000 >&2; echo done; exit 4'), host);
    expect([host.io.stdout.text(), exitCode]).toEqual(['done\n', 4]);
  });

  test('an output that cannot be written fails the call and ends the command', async () => {
    const host = testHost({ stdout: testOutput({ sink: closedSink('ENOSPC') }) });
    const seconds = uniqueSleep();
    const running = execute(box, request(`echo x; sleep ${seconds}; :`), host);
    await expect(running).rejects.toMatchObject({ code: 'failed' });
    await expect.poll(() => countInside(box, seconds)).toBe(0);
  });
});

describe('pipes', () => {
  test('only descriptors of pipes and of /dev/null are handed over, and only the input that was asked for', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sbx-exec-'));
    execFileSync('mkfifo', [join(folder, 'fifo')]);
    const fifo = openSync(join(folder, 'fifo'), 'r+');
    const file = openSync(join(folder, 'file'), 'w');
    const device = openSync('/dev/null', 'r+');
    const server = createServer().listen(join(folder, 'socket'));
    const socket = connect(join(folder, 'socket'));
    await new Promise((resolve) => socket.once('connect', resolve));
    const specs: (ExecSpec['handOver'] | undefined)[] = [];
    const spy: Sandbox = {
      ...box,
      exec: async (spec) => {
        specs.push(spec.handOver);
        return ended({ code: 0 });
      },
    };
    const socketFd = (socket as unknown as { _handle: { fd: number } })._handle.fd;
    try {
      for (const [stdin, fd] of [
        [true, fifo],
        [false, fifo],
        [true, file],
        [true, device],
        [true, socketFd],
        [true, 9999],
      ] as const) {
        const host = testHost({
          stdin: testInput({ fd }),
          stdout: testOutput({ fd }),
          stderr: testOutput({ fd }),
        });
        await execute(spy, { argv: ['x'], stdin }, host);
      }
      expect(specs).toEqual([
        { stdin: fifo, stdout: fifo, stderr: fifo },
        { stdout: fifo, stderr: fifo },
        {},
        { stdin: device, stdout: device, stderr: device },
        {},
        {},
      ]);
    } finally {
      socket.destroy();
      server.close();
      for (const fd of [fifo, file, device]) closeSync(fd);
      await rm(folder, { recursive: true });
    }
  });

  test('a file gets the output', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sbx-exec-'));
    const fd = openSync(join(folder, 'out'), 'w');
    try {
      await execute(box, request('seq 1 100000'), testHost({ stdout: testOutput({ fd }) }));
      expect(readFileSync(join(folder, 'out'), 'utf8')).toMatch(/^1\n2\n[\s\S]*\n99999\n100000\n$/);
    } finally {
      closeSync(fd);
      await rm(folder, { recursive: true });
    }
  });

  test('a full device fails the call', async () => {
    const fd = openSync('/dev/full', 'w');
    try {
      const running = execute(box, request('yes'), testHost({ stdout: testOutput({ fd }) }));
      await expect(running).rejects.toMatchObject({
        code: 'failed',
        message: expect.stringContaining('ENOSPC'),
      });
    } finally {
      closeSync(fd);
    }
  });
});

describe('signals', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s is passed on, and its exit code is %i', async (name, exitCode) => {
    const host = testHost();
    const running = execute(box, request('echo ready; exec sleep 1000'), host);
    await printed(host.io.stdout, 'ready');
    expect(host.signals.deliver(name)).toBe(false);
    expect(await running).toMatchObject({ exitCode, signal: name.slice(3) });
    expect(host.signal.aborted).toBe(false);
  });

  test('SIGQUIT is passed on', async () => {
    const host = testHost();
    const running = execute(box, request('ulimit -c 0; echo ready; exec sleep 1000'), host);
    await printed(host.io.stdout, 'ready');
    process.emit('SIGQUIT');
    expect((await running).exitCode).toBe(131);
    expect(process.listenerCount('SIGQUIT')).toBe(0);
  });

  test('what a shell left in the background ends with it, although it ignores Ctrl-C', async () => {
    const host = testHost();
    const seconds = uniqueSleep();
    // Nothing in front: a signal that a shell gets while it starts a child there is lost on both.
    const text = `(sleep ${seconds}; :) & sleep ${seconds} & echo ready; wait`;
    const running = execute(box, request(text), host);
    await printed(host.io.stdout, 'ready');
    host.signals.deliver('SIGINT');
    expect((await running).exitCode).toBe(130);
    expect(await countInside(box, seconds)).toBe(0);
  });

  test('a command that handles Ctrl-C decides what comes of it', async () => {
    const host = testHost();
    const text = "trap 'echo bye; exit 7' INT; echo ready; while :; do sleep 0.05; done";
    const running = execute(box, request(text), host);
    await printed(host.io.stdout, 'ready');
    host.signals.deliver('SIGINT');
    expect((await running).exitCode).toBe(7);
    expect(host.io.stdout.text()).toBe('ready\nbye\n');
  });

  test('a second Ctrl-C kills all of it', async () => {
    const host = testHost();
    const seconds = uniqueSleep();
    const text = `trap '' INT TERM; setsid sleep ${seconds} & echo ready; while :; do sleep 0.05; done`;
    const running = execute(box, request(text), host);
    await printed(host.io.stdout, 'ready');
    host.signals.deliver('SIGINT');
    host.signals.deliver('SIGINT');
    expect(await running).toMatchObject({ exitCode: 137, signal: 'KILL' });
    await expect.poll(() => countInside(box, seconds)).toBe(0);
  });

  test('a second Ctrl-C after two seconds is passed on like the first', async () => {
    let now = 0;
    const host = { ...testHost(), clock: { now: () => new Date(), monotonic: () => now, later: timeless } };
    const text = "trap 'echo int' INT; echo ready; while :; do sleep 0.02; done";
    const running = execute(box, request(text), host);
    await printed(host.io.stdout, 'ready');
    host.signals.deliver('SIGINT');
    await printed(host.io.stdout, 'int\n');
    now += 2000;
    host.signals.deliver('SIGINT');
    await printed(host.io.stdout, 'int\nint\n');
    host.signals.deliver('SIGTERM');
    expect((await running).exitCode).toBe(143);
  });

  test('a command that was given up before it ran is not run', async () => {
    const host = testHost();
    host.signals.deliver('SIGINT');
    await expect(execute(box, request('echo x'), host)).rejects.toMatchObject({ code: 'interrupted' });
    expect(host.io.stdout.text()).toBe('');
  });

  test('a command that started although it was given up is ended', async () => {
    const host = testHost();
    const terminate = vi.fn(async () => undefined);
    const late: Sandbox = {
      ...box,
      exec: async () => {
        host.signals.deliver('SIGINT');
        return { ...ended({ code: 0 }), terminate };
      },
    };
    await expect(execute(late, request('x'), host)).rejects.toMatchObject({ code: 'interrupted' });
    expect(terminate).toHaveBeenCalledWith(0);
  });
});

describe('timeouts', () => {
  test('the time is up although the input stays open', async () => {
    const host = testHost();
    const seconds = uniqueSleep();
    const running = execute(
      box,
      request(`setsid sleep ${seconds} & cat`, { stdin: true, timeoutMs: 200 }),
      host,
    );
    expect(await running).toMatchObject({ exitCode: 124, timedOut: true });
    await expect.poll(() => countInside(box, seconds)).toBe(0);
  });

  test('a command that ends in time is not touched by a long one', async () => {
    const { exitCode } = await execute(box, request('exit 2', { timeoutMs: 2 ** 40 }), testHost());
    expect(exitCode).toBe(2);
  });

  test('the command gets five seconds, and one whose end is not told is given up', async () => {
    vi.useFakeTimers();
    try {
      const terminate = vi.fn(async () => undefined);
      const never: Running = { ...ended({ code: 0 }), terminate, wait: () => new Promise(() => undefined) };
      const running = execute(
        { ...box, exec: async () => never },
        request('x', { timeoutMs: 1000 }),
        testHost(),
      );
      await vi.advanceTimersByTimeAsync(999);
      expect(terminate).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      expect(terminate).toHaveBeenCalledWith(5000);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await running).toMatchObject({ exitCode: 124, timedOut: true });
    } finally {
      vi.useRealTimers();
    }
  });

  test('one that the backend would cut short is refused', () => {
    const manifest = { ...memoryManifest, limits: { execTimeoutMs: 60_000 } };
    expect(() => refuseLongTimeout(60_000, manifest, 'm')).not.toThrow();
    expect(() => refuseLongTimeout(undefined, manifest, 'm')).not.toThrow();
    expect(() => refuseLongTimeout(60_001, memoryManifest, 'm')).not.toThrow();
    expect(() => refuseLongTimeout(60_001, manifest, 'm')).toThrow(/at most 1m, not 1m1ms/);
  });
});

describe('failures of the backend', () => {
  test('are thrown, and the command is ended', async () => {
    const terminate = vi.fn(async () => undefined);
    const broken: Running = {
      ...ended({ code: 0 }),
      terminate,
      wait: async () => Promise.reject(new SbxError('unreachable', 'the link is lost')),
    };
    const sandbox: Sandbox = { ...box, exec: async () => broken };
    await expect(execute(sandbox, request('x'), testHost())).rejects.toMatchObject({ code: 'unreachable' });
    expect(terminate).toHaveBeenCalled();
  });
});

describe('collecting', () => {
  test('everything is in one object', async () => {
    const host = testHost();
    host.io.stdin.source.end('in');
    const result = await executeAndCollect(box, request('cat; echo err >&2; exit 3', { stdin: true }), host);
    expect(result).toEqual({
      exitCode: 3,
      signal: null,
      timedOut: false,
      stdout: 'in',
      stderr: 'err\n',
      truncated: false,
      durationMs: expect.any(Number),
    });
    expect([host.io.stdout.text(), host.io.stderr.text()]).toEqual(['', '']);
  });

  test('signals and timeouts are told', async () => {
    expect(await executeAndCollect(box, request('kill -USR1 $$'), testHost())).toMatchObject({
      exitCode: 138,
      signal: 'USR1',
    });
    const late = await executeAndCollect(
      box,
      request('echo part; exec sleep 1000', { timeoutMs: 200 }),
      testHost(),
    );
    expect(late).toMatchObject({ exitCode: 124, timedOut: true, stdout: 'part\n' });
  });

  test('more than the limit is dropped and said so, and the command still ends by itself', async () => {
    const text = `head -c ${COLLECT_LIMIT + 1000} /dev/zero | tr '\\0' x; echo >&2 all; exit 1`;
    const { stdout, stderr, truncated, exitCode } = await executeAndCollect(box, request(text), testHost());
    expect([stdout.length, stderr, truncated, exitCode]).toEqual([COLLECT_LIMIT, 'all\n', true, 1]);
  });
});

/** A command that has ended. */
function ended(exit: Exit): Running {
  return { signal: async () => undefined, terminate: async () => undefined, wait: async () => exit };
}

function feedOnce(host: ReturnType<typeof testHost>, text: string): ReturnType<typeof testHost> {
  host.io.stdin.source.write(text);
  return host;
}
