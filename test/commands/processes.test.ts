import { appendFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import Kill from '../../src/commands/kill.ts';
import Logs from '../../src/commands/logs.ts';
import Ps from '../../src/commands/ps.ts';
import type { Sandbox } from '../../src/lib/backend/contract.ts';
import type { MemoryIo } from '../../src/lib/cli/memory-io.ts';
import { SignalHub } from '../../src/lib/cli/signals.ts';
import { type CommandLine, commandLine, type RunResult } from '../support/command-line.ts';

const call = { signal: new AbortController().signal };
let sbx: CommandLine;
let box: Sandbox;

beforeEach(async () => {
  sbx = commandLine({ commands: { ps: Ps, kill: Kill, logs: Logs } });
  box = await sbx.memory.create({ name: 'box', env: {}, labels: {}, limits: {} }, call);
});
afterEach(async () => {
  await sbx[Symbol.asyncDispose]();
});

async function start(script: string, name?: string) {
  const started = await box.can.processes?.start({ argv: ['sh', '-c', script], name }, call);
  if (started === undefined) throw new Error('no processes');
  return started;
}

async function guestFolder(): Promise<string> {
  const running = await box.exec({ argv: ['sh', '-c', 'printf %s "$SBX_GUEST_DIR"'], stdin: 'none' }, call);
  return running.stdout === undefined ? '' : await text(running.stdout);
}

/** Waits until a log that is followed has printed `wanted`. */
async function printed(
  io: MemoryIo | undefined,
  wanted: string,
  following: Promise<RunResult>,
): Promise<void> {
  let ended: RunResult | undefined;
  void following.then((result) => {
    ended = result;
  });
  while (!io?.stdout.text.includes(wanted)) {
    if (ended !== undefined) throw new Error(`the command ended: ${JSON.stringify(ended)}`);
    await new Promise((done) => setImmediate(done));
  }
}

describe('ps', () => {
  it('shows what runs and the main process in any state, and all with --all', async () => {
    const other = await start('exit 1');
    const main = await start('exit 3', 'main');
    await sbx.run(['logs', 'box', '-f', '--process', other.id]);
    await sbx.run(['logs', 'box', '-f']);
    await start('exec sleep 300', 'web');
    const { stdout, exit } = await sbx.run(['ps', 'box']);
    expect(exit).toBe(0);
    const [head, ...rows] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().split(/ {2,}/));
    expect(head).toEqual(['ID', 'NAME', 'STATE', 'EXIT', 'AGE', 'COMMAND']);
    expect(rows).toHaveLength(2);
    expect(rows).toContainEqual([
      main.id,
      'main',
      'exited',
      '3',
      expect.stringMatching(/^\d+s$/),
      "sh -c 'exit 3'",
    ]);
    expect(rows).toContainEqual(expect.arrayContaining(['web', 'running', '-', "sh -c 'exec sleep 300'"]));
    expect(JSON.parse((await sbx.run(['ps', 'box', '--json', '--all'])).stdout)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          id: other.id,
          argv: ['sh', '-c', 'exit 1'],
          state: 'exited',
          exit: { code: 1 },
        }),
        expect.objectContaining({ name: 'main', exit: { code: 3 } }),
        expect.objectContaining({ name: 'web', state: 'running', pid: expect.any(Number) }),
      ]),
    );
    expect((await sbx.run(['ps', 'box', '-q'])).stdout.split('\n')).toContain(main.id);
  });

  it('makes control characters in a command visible', async () => {
    await start('exec sleep 300 # \u001b]0;title\u0007', 'web');
    expect((await sbx.run(['ps', 'box'])).stdout).toContain('\\e]0;title\\x07');
  });
});

describe('kill', () => {
  it.each([[['-9', 'box', 'web']], [['box', '-9', 'web']]])(
    'takes no -9 for a sandbox or a process: %j',
    async (words) => {
      const { exit, stderr } = await sbx.run(['kill', ...words]);
      expect(exit).toBe(2);
      expect(stderr).toContain('sbx kill SANDBOX PROCESS -s 9');
    },
  );

  it.each(['HUP', 'SIGHUP', 'hup', '1'])('sends %s', async (signal) => {
    await start('trap "echo got it; exit 0" HUP; echo ready; while :; do sleep 0.05; done', 'web');
    const io: MemoryIo[] = [];
    const following = sbx.run(['logs', 'box', '-f'], { watch: (each) => io.push(each) });
    await printed(io[0], 'ready\n', following);
    expect(await sbx.run(['kill', 'box', 'web', '-s', signal])).toEqual({
      exit: 0,
      stdout: 'web\n',
      stderr: '',
    });
    expect((await following).stdout).toContain('got it\n');
  });

  it('has an exit code for each mistake', async () => {
    const ended = await start('exit 0', 'ended');
    await sbx.run(['logs', 'box', '-f']);
    expect(await sbx.run(['kill', 'box', ended.id])).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining('has ended'),
    });
    expect((await sbx.run(['kill', 'box', 'ended'])).exit).toBe(1);
    expect((await sbx.run(['kill', 'box', 'nope'])).exit).toBe(3);
    expect((await sbx.run(['kill', 'box', 'ended', '-s', 'NOPE'])).exit).toBe(2);
    expect(await sbx.run(['kill', 'box'])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('sbx kill box PROCESS'),
    });
  });

  it('goes on after one that fails', async () => {
    const web = await start('exec sleep 300', 'web');
    const result = await sbx.run(['kill', 'box', 'nope', 'web', '--json']);
    expect(result.exit).toBe(3);
    expect(JSON.parse(result.stdout)).toEqual([
      expect.objectContaining({ name: 'nope', code: 'not_found' }),
      { name: 'web', backend: 'memory', done: 'sent TERM' },
    ]);
    await sbx.run(['logs', 'box', '-f']);
    expect(JSON.parse((await sbx.run(['ps', 'box', '-a', '--json'])).stdout)).toMatchObject([
      { id: web.id, exit: { signal: 'TERM' } },
    ]);
  });
});

describe('logs', () => {
  it('prints the bytes of the main process, and nothing else', async () => {
    await start('exec sleep 300', 'web');
    await start("printf 'out\\n\\377\\n'; echo err >&2; printf partial", 'main');
    await sbx.run(['logs', 'box', '-f']);
    let io: MemoryIo | undefined;
    const { exit, stderr } = await sbx.run(['logs', 'box'], {
      watch: (each) => {
        io = each;
      },
    });
    expect([exit, stderr]).toEqual([0, '']);
    expect(io?.stdout.bytes).toEqual(Buffer.from('out\n\xff\nerr\npartial', 'latin1'));
  });

  it('takes the only process, and lists them when there are many', async () => {
    expect(await sbx.run(['logs', 'box'])).toMatchObject({
      exit: 3,
      stderr: expect.stringContaining('sbx exec -d box'),
    });
    await start('echo one; exec sleep 300', 'one');
    expect(await sbx.run(['logs', 'box', '--tail', '1'])).toMatchObject({ exit: 0 });
    await start('echo two; exec sleep 300', 'two');
    const many = await sbx.run(['logs', 'box']);
    expect(many).toMatchObject({ exit: 2, stdout: '' });
    expect(many.stderr).toMatch(/one \(sh\), two \(sh\)|two \(sh\), one \(sh\)/);
    expect((await sbx.run(['logs', 'box', '--process', 'three'])).exit).toBe(3);
  });

  it('selects lines and gives them times', async () => {
    await start('echo a1; echo b2; echo a3; printf a4', 'main');
    await sbx.run(['logs', 'box', '-f']);
    expect((await sbx.run(['logs', 'box', '--grep', '^a'])).stdout).toBe('a1\na3\na4');
    expect((await sbx.run(['logs', 'box', '--tail', '2', '--grep', '^b|3'])).stdout).toBe('a3\n');
    expect((await sbx.run(['logs', 'box', '-n', '0'])).stdout).toBe('');
    expect((await sbx.run(['logs', 'box', '--since', '2000-01-01'])).stdout).toBe('a1\nb2\na3\na4');
    expect((await sbx.run(['logs', 'box', '--until', '1h'])).stdout).toBe('');
    expect((await sbx.run(['logs', 'box', '-t', '--tail', '1'])).stdout).toMatch(
      /^\d{4}-\d\d-\d\dT[\d:.]+Z a4$/,
    );
    const lines = (await sbx.run(['logs', 'box', '--json', '--grep', 'a[14]'])).stdout.trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { time: expect.stringMatching(/Z$/), process: 'main', line: 'a1' },
      { time: expect.stringMatching(/Z$/), process: 'main', line: 'a4' },
    ]);
  });

  it.each([
    [['--tail', 'x']],
    [['--tail', '-1']],
    [['--since', 'yesterday']],
    [['--until', '10x']],
    [['--grep', '(']],
    [['-o', 'yaml']],
  ])('refuses %j', async (flags) => {
    await start('exec sleep 300', 'main');
    expect((await sbx.run(['logs', 'box', ...flags])).exit).toBe(2);
  });

  it('follows across a truncation and a restart, and ends with the process', async () => {
    const first = await start('echo first; exec sleep 300', 'main');
    const io: MemoryIo[] = [];
    const following = sbx.run(['logs', 'box', '-f'], { watch: (each) => io.push(each) });
    await printed(io[0], 'first\n', following);
    const guest = join(await guestFolder(), 'processes');
    truncateSync(join(guest, first.id, 'log'));
    appendFileSync(join(guest, first.id, 'log'), 'anew\n');
    await printed(io[0], 'anew\n', following);
    await box.can.processes?.kill('main', 'TERM', call);
    // It has its name until it has ended.
    await expect
      .poll(() => start('echo second; exit 0', 'main').then(() => 'started', String))
      .toBe('started');
    expect(await following).toEqual({ exit: 0, stdout: 'first\nanew\nsecond\n', stderr: '' });
  });

  it('follows a sandbox that is stopped and started', async () => {
    const made = await sbx.memory.create(
      { name: 'again', env: {}, labels: {}, limits: {}, command: ['sh', '-c', 'echo up; exec sleep 300'] },
      call,
    );
    const io: MemoryIo[] = [];
    const signals = new SignalHub();
    const following = sbx.run(['logs', 'again', '-f'], { signals, watch: (each) => io.push(each) });
    await printed(io[0], 'up\n', following);
    await made.can.power?.stop({ graceMs: 1000 }, call);
    await made.can.power?.start(call);
    await printed(io[0], 'up\nup\n', following);
    signals.deliver('SIGINT');
    expect(await following).toMatchObject({ exit: 130, stderr: '' });
  });
});
