import { afterAll, afterEach, expect, test } from 'vitest';
import Run from '../../src/commands/run.ts';
import type { SandboxInfo } from '../../src/lib/backend/contract.ts';
import { call } from '../conformance/harness.ts';
import { commandLine } from '../support/command-line.ts';

const cli = commandLine({ commands: { run: Run } });
afterAll(() => cli[Symbol.asyncDispose]());

async function left(): Promise<SandboxInfo[]> {
  const found: SandboxInfo[] = [];
  for await (const info of cli.memory.list({ all: true }, call)) found.push(info);
  return found;
}
afterEach(async () => {
  for (const { id } of await left()) await cli.memory.destroy(id, { force: true }, call);
});

test.each([
  [['--', 'echo', '-n', 'x'], 'x'],
  [['echo', '--keep'], '--keep\n'],
  [['-e', 'A=1', '--shell', 'echo $A "$1"', 'arg'], '1 arg\n'],
])('run %j prints %j and leaves nothing', async (argv, stdout) => {
  const result = await cli.run(['run', ...argv]);
  expect(result).toEqual({ exit: 0, stdout, stderr: '' });
  expect(await left()).toEqual([]);
});

test('the command’s exit code, also when it cannot be found', async () => {
  expect((await cli.run(['run', '--shell', 'exit 42'])).exit).toBe(42);
  expect((await cli.run(['run', 'no-such-command'])).exit).toBe(127);
  expect(await left()).toEqual([]);
});

test('standard input with -i', async () => {
  expect((await cli.run(['run', '-i', 'sort'], { stdin: 'b\na\n' })).stdout).toBe('a\nb\n');
});

test('a time limit ends it with 124 and removes the sandbox', async () => {
  expect((await cli.run(['run', '--timeout', '200ms', 'sleep', '1000'])).exit).toBe(124);
  expect(await left()).toEqual([]);
});

test('--json prints one object', async () => {
  const { exit, stdout } = await cli.run(['run', '--json', '--shell', 'echo out; exit 3']);
  expect(exit).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({ exitCode: 3, stdout: 'out\n', timedOut: false });
});

test('--keep keeps it and prints its name on stderr', async () => {
  const { stderr, stdout } = await cli.run(['run', '--keep', '-q', '--label', 'k=v', 'true']);
  const [info] = await left();
  expect(info?.labels).toEqual({ k: 'v' });
  expect(stdout).toBe('');
  expect(stderr).toContain(info?.name);
});

test('setup runs first, and a setup that fails is ours', async () => {
  expect((await cli.run(['run', '--setup', 'echo made > file', 'cat', 'file'])).stdout).toBe('made\n');
  const failed = await cli.run(['run', '--setup', 'exit 3', 'echo', 'ran']);
  expect([failed.exit, failed.stdout]).toEqual([125, '']);
  expect(await left()).toEqual([]);
});

test.each([
  [[], 'there is no command'],
  [['-t', 'true'], 'needs a terminal'],
  [['--if-not-exists', 'true'], 'unknown flag'],
])('run %j is a usage error that makes nothing', async (argv, message) => {
  const { exit, stderr } = await cli.run(['run', ...argv]);
  expect(exit).toBe(2);
  expect(stderr).toContain(message);
  expect(await left()).toEqual([]);
});

test('an option that the backend would ignore is refused', async () => {
  const { exit, stderr } = await cli.run(['run', '--memory', '64m', 'true']);
  expect(exit).toBe(125);
  expect(stderr).toContain('--memory');
});
