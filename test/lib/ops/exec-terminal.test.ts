import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { ExecSpec, Exit, Running, Sandbox, TerminalSize } from '../../../src/lib/backend/contract.ts';
import { SbxError } from '../../../src/lib/errors.ts';
import { execute } from '../../../src/lib/ops/exec.ts';
import { printed, type TestHost, testHost, testInput, testOutput } from '../../support/exec-host.ts';

/** A local terminal that a test types into and resizes. */
function localTerminal(cols = 100, rows = 30) {
  const modes: boolean[] = [];
  const stdin = testInput({ isTTY: true });
  Object.assign(stdin.source, { isRaw: false, setRawMode: (raw: boolean) => modes.push(raw) });
  const stdout = testOutput({ isTTY: true });
  const size = Object.assign(stdout.sink, { columns: cols, rows });
  const host: TestHost = testHost({ stdin, stdout, stderr: testOutput({ isTTY: true }) });
  const resize = (columns: number, height: number) => {
    Object.assign(size, { columns, rows: height });
    stdout.sink.emit('resize');
  };
  return { host, modes, resize };
}

/** A command on a terminal inside, played by the test. */
function remote(onExec: () => void = () => undefined) {
  const keys = new PassThrough();
  const screen = new PassThrough();
  const sizes: TerminalSize[] = [];
  const specs: ExecSpec[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<Exit>();
  const running: Running = {
    stdin: keys,
    stdout: screen,
    signal: async () => undefined,
    terminate: async () => undefined,
    resize: async (size) => void sizes.push(size),
    wait: () => promise,
  };
  const sandbox: Sandbox = {
    id: '1',
    name: 'box',
    backend: 'b',
    info: async () => Promise.reject(new Error('not asked')),
    exec: async (spec) => {
      specs.push(spec);
      onExec();
      return running;
    },
    can: { terminal: true },
  };
  const end = (exit: Exit) => {
    screen.end();
    resolve(exit);
  };
  return { keys, screen, sizes, specs, sandbox, end, fail: reject };
}

const request = { argv: ['vi'], stdin: false, terminal: { term: 'xterm' } } as const;

test('keys go in, the screen comes out, and the terminal is as before afterwards', async () => {
  const { host, modes } = localTerminal();
  const { sandbox, keys, screen, specs, end } = remote();
  const running = execute(sandbox, { ...request, argv: ['vi'] }, host);
  screen.write('~ empty file');
  await printed(host.io.stdout, '~ empty file');
  expect(modes).toEqual([true]);
  host.io.stdin.source.write(':q\r');
  await new Promise((resolve) => keys.once('readable', resolve));
  expect(String(keys.read())).toBe(':q\r');
  end({ code: 3 });
  expect((await running).exitCode).toBe(3);
  expect(modes).toEqual([true, false]);
  expect(specs).toMatchObject([{ stdin: 'pipe', terminal: { cols: 100, rows: 30, term: 'xterm' } }]);
  expect(specs[0]?.handOver).toBeUndefined();
});

test('the window’s changes reach the command, also one while it was started', async () => {
  const { host, resize } = localTerminal();
  const { sandbox, sizes, screen, end } = remote(() => resize(101, 31));
  const running = execute(sandbox, { ...request, argv: ['vi'] }, host);
  screen.write('up');
  await printed(host.io.stdout, 'up');
  resize(120, 40);
  end({ code: 0 });
  await running;
  expect(sizes).toEqual([
    { cols: 101, rows: 31 },
    { cols: 120, rows: 40 },
  ]);
  expect(host.io.stdout.sink.listenerCount('resize')).toBe(0);
});

test('a terminal of no size has eighty columns', async () => {
  const { host } = localTerminal(0, 0);
  const { sandbox, specs, end } = remote();
  const running = execute(sandbox, { ...request, argv: ['vi'] }, host);
  end({ code: 0 });
  await running;
  expect(specs).toMatchObject([{ terminal: { cols: 80, rows: 24 } }]);
});

test('the terminal is restored when the link is lost', async () => {
  const { host, modes } = localTerminal();
  const { sandbox, fail } = remote();
  const running = execute(sandbox, { ...request, argv: ['vi'] }, host);
  fail(new SbxError('unreachable', 'the link is lost'));
  await expect(running).rejects.toMatchObject({ code: 'unreachable' });
  expect(modes).toEqual([true, false]);
});

test('the terminal is not touched when the command cannot be started', async () => {
  const { host, modes } = localTerminal();
  const { sandbox } = remote();
  const refused = { ...sandbox, exec: async () => Promise.reject(new SbxError('conflict', 'it is stopped')) };
  await expect(execute(refused, { ...request, argv: ['vi'] }, host)).rejects.toMatchObject({
    code: 'conflict',
  });
  expect(modes).toEqual([]);
});

test('without a terminal it is a usage error', async () => {
  const { sandbox, specs } = remote();
  const { host } = localTerminal();
  for (const io of [
    { ...host.io, stdin: testInput() },
    { ...host.io, stdout: testOutput() },
  ]) {
    await expect(execute(sandbox, { ...request, argv: ['vi'] }, { ...host, io })).rejects.toMatchObject({
      code: 'usage',
    });
  }
  expect(specs).toEqual([]);
});
