import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import Exec from '../../src/commands/exec.ts';
import { SignalHub } from '../../src/lib/cli/signals.ts';
import { call, plain } from '../conformance/harness.ts';
import { commandLine } from '../support/command-line.ts';

const cli = commandLine({ commands: { exec: Exec } });
beforeAll(async () => {
  await cli.memory.create({ ...plain, name: 'box' }, call);
});
afterAll(() => cli[Symbol.asyncDispose]());

const out = async (...argv: string[]) => (await cli.run(['exec', ...argv])).stdout;

test.each([
  [['box', 'echo', 'a  b'], 'a  b\n'],
  [['box', '--', 'echo', '--', '-n'], '-- -n\n'],
  [['box', 'echo', '--json', '-i', '-t', '--help'], '--json -i -t --help\n'],
  [['-w', '/usr', 'box', 'pwd'], '/usr\n'],
  [['-e', 'A=1', '-e', 'B=x y', 'box', 'sh', '-c', 'echo "$A $B"'], '1 x y\n'],
  [['--shell', 'echo $((1+1)) "$1"', 'box', 'an arg'], '2 an arg\n'],
  [['memory/box', 'echo', 'x'], 'x\n'],
  [['--', 'echo', 'the only one'], 'the only one\n'],
])('%j prints %j', async (argv, stdout) => {
  expect(await out(...argv)).toBe(stdout);
});

test('empty arguments are kept', async () => {
  expect(await out('box', 'sh', '-c', 'echo $#', 'sh', '', '', '')).toBe('3\n');
});

test('a variable by name alone comes from the user’s environment', async () => {
  const argv = [
    'exec',
    '-e',
    'MINE',
    '-e',
    'UNSET_HERE',
    'box',
    'sh',
    '-c',
    'echo "$MINE $(printenv UNSET_HERE || echo unset)"',
  ];
  expect((await cli.run(argv, { env: { MINE: 'value' } })).stdout).toBe('value unset\n');
});

test('flags win over the env file', async () => {
  await writeFile(join(cli.folder, 'vars'), '# a comment\nA=file\nB="file"\n');
  expect(await out('--env-file', 'vars', '-e', 'A=flag', 'box', 'sh', '-c', 'echo "$A $B"')).toBe(
    'flag "file"\n',
  );
  const missing = await cli.run(['exec', '--env-file', 'no-such', 'box', 'true']);
  expect([missing.exit, missing.stderr]).toEqual([2, expect.stringContaining('no-such')]);
});

test('standard input is forwarded with -i only', async () => {
  const stdin = 'b\na\n';
  expect((await cli.run(['exec', '-i', 'box', 'sort'], { stdin })).stdout).toBe('a\nb\n');
  expect((await cli.run(['exec', 'box', 'sort'], { stdin })).stdout).toBe('');
});

test.each([
  ['exit 0', 0],
  ['exit 7', 7],
  ['exit 255', 255],
  ['kill -TERM $$', 143],
  ['kill -KILL $$', 137],
])('%s: exit code %i', async (text, exit) => {
  expect((await cli.run(['exec', '--shell', text, 'box'])).exit).toBe(exit);
});

test('126 and 127 are told from 125, which is ours', async () => {
  expect((await cli.run(['exec', 'box', 'no-such-command'])).exit).toBe(127);
  expect((await cli.run(['exec', 'box', '/tmp'])).exit).toBe(126);
  expect((await cli.run(['exec', '-w', '/no/such', 'box', 'true'])).exit).toBe(126);
  const missing = await cli.run(['exec', 'no-such-box', 'true']);
  expect([missing.exit, missing.stdout]).toEqual([125, '']);
  expect(missing.stderr).toContain('no-such-box');
});

test.each([
  [['box'], 'there is no command'],
  [['--timeout', 'soon', 'box', 'true'], 'not a duration'],
  [['--timeout', '0', 'box', 'true'], 'a timeout must be more than 0'],
  [['-e', '1x=y', 'box', 'true'], 'no valid name'],
  [['-d', '-i', 'box', 'true'], 'interactive'],
  [['-t', 'box', 'true'], 'needs a terminal'],
  [['-t', '-T', 'box', 'true'], 'terminal'],
  [['--no-such', 'box', 'true'], 'unknown flag'],
])('%j is a usage error', async (argv, message) => {
  const { exit, stderr, stdout } = await cli.run(['exec', ...argv]);
  expect([exit, stdout]).toEqual([2, '']);
  expect(stderr).toContain(message);
});

test('a time limit ends the command with 124', async () => {
  expect((await cli.run(['exec', '--timeout', '200ms', 'box', 'sleep', '1000'])).exit).toBe(124);
});

test('--json prints one object and exits like the command', async () => {
  const { exit, stdout, stderr } = await cli.run([
    'exec',
    '--json',
    '--shell',
    'echo out; echo err >&2; exit 3',
    'box',
  ]);
  expect([exit, stderr]).toEqual([3, '']);
  expect(JSON.parse(stdout)).toEqual({
    exitCode: 3,
    signal: null,
    timedOut: false,
    stdout: 'out\n',
    stderr: 'err\n',
    truncated: false,
    durationMs: expect.any(Number),
  });
  expect((await cli.run(['exec', '-o', 'jsonl', 'box', 'true'])).stdout.trim().split('\n')).toHaveLength(1);
});

test('our own failure with --json is an object on stderr', async () => {
  const { exit, stdout, stderr } = await cli.run(['exec', '--json', 'no-such-box', 'true']);
  expect([exit, stdout]).toEqual([125, '']);
  expect(JSON.parse(stderr)).toMatchObject({ code: 'not_found', retryable: false });
});

test('in the background it prints the process id and returns', async () => {
  const { exit, stdout } = await cli.run(['exec', '-d', 'box', '--', 'sleep', '1000']);
  expect(exit).toBe(0);
  const id = stdout.trim();
  const box = await cli.memory.get('box', call);
  const found: string[] = [];
  for await (const info of box.can.processes?.list(call) ?? []) found.push(info.id);
  expect(found).toContain(id);
  await box.can.processes?.kill(id, 'KILL', call);
  const json = await cli.run(['exec', '-d', '--json', 'box', '--', 'true']);
  expect(JSON.parse(json.stdout)).toMatchObject({ id: expect.any(String), argv: ['true'] });
});

test('Ctrl-C before the command runs is 130', async () => {
  const signals = new SignalHub();
  signals.deliver('SIGINT');
  expect((await cli.run(['exec', 'box', 'echo', 'ran'], { signals })).exit).toBe(130);
});

test('three terminals without a terminal inside: the command runs plainly', async () => {
  expect((await cli.run(['exec', 'box', 'echo', 'x'], { tty: true })).stdout).toBe('x\n');
  const asked = await cli.run(['exec', '-t', 'box', 'echo', 'x'], { tty: true });
  expect([asked.exit, asked.stdout]).toEqual([125, '']);
  expect(asked.stderr).toContain('does not support terminal');
});

test('a command that is not there is no background process, and says so', async () => {
  const { exit, stdout, stderr } = await cli.run(['exec', '-d', 'box', '--', 'no-such-command']);
  expect(exit).toBe(127);
  expect(stderr).toContain(`sbx logs box --process ${stdout.trim()}`);
});

test('with several sandboxes and none named the hint is the whole command to run', async () => {
  const other = await cli.memory.create({ ...plain, name: 'other' }, call);
  try {
    const { exit, stderr } = await cli.run(['exec', '--', 'sh', '-c', "echo 'a b'"]);
    expect(exit).toBe(2);
    expect(stderr).toMatch(/sbx exec (memory\/)?(box|other) -- sh -c 'echo '\\''a b'\\'''/);
  } finally {
    await cli.memory.destroy(other.id, { force: true }, call);
  }
});
