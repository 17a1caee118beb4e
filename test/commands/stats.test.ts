import { afterEach, beforeEach, expect, it } from 'vitest';
import Stats from '../../src/commands/stats.ts';
import type { Stats as Sample } from '../../src/lib/backend/contract.ts';
import { deriveStats } from '../../src/lib/backend/derived/stats.ts';
import { createMemoryBackend, type MemoryBackend } from '../../src/lib/backends/memory/index.ts';
import type { MemoryIo } from '../../src/lib/cli/memory-io.ts';
import { SignalHub } from '../../src/lib/cli/signals.ts';
import { SbxError } from '../../src/lib/errors.ts';
import { type CommandLine, commandLine } from '../support/command-line.ts';

const call = { signal: new AbortController().signal };
const realBackend = () =>
  createMemoryBackend({
    name: 'real',
    derived: { of: (sandbox) => ({ stats: deriveStats(sandbox) }), capabilities: { stats: 'derived' } },
  });
let answers: (Sample | SbxError)[];
const fakeBackend = () =>
  createMemoryBackend({
    name: 'fake',
    derived: {
      of: () => ({
        async stats() {
          const answer = answers.length > 1 ? answers.shift() : answers[0];
          if (answer === undefined || answer instanceof SbxError) throw answer ?? new Error('no answer');
          return answer;
        },
      }),
      capabilities: { stats: 'native' },
    },
  });
let sbx: CommandLine;
let real: MemoryBackend;
let fake: MemoryBackend;
let bare: MemoryBackend;

beforeEach(async () => {
  real = realBackend();
  fake = fakeBackend();
  bare = createMemoryBackend({ name: 'bare', derived: { of: () => ({}), capabilities: {} } });
  sbx = commandLine({ commands: { stats: Stats }, backends: [real, fake, bare] });
  await real.create({ name: 'box', env: {}, labels: {}, limits: {} }, call);
  await fake.create({ name: 'box', env: {}, labels: {}, limits: {} }, call);
});
afterEach(async () => {
  await sbx[Symbol.asyncDispose]();
  await real.dispose();
  await fake.dispose();
  await bare.dispose();
});

const sample = (facts: Partial<Sample>): Sample => ({ time: '2026-01-01T00:00:00.000Z', ...facts });

it('measures a real sandbox', async () => {
  const result = await sbx.run(['stats', 'real/box', '--json']);
  expect(result).toMatchObject({ exit: 0, stderr: '' });
  const [row] = JSON.parse(result.stdout) as Record<string, number>[];
  expect(row).toMatchObject({ name: 'box', backend: 'real', cpuPercent: expect.any(Number) });
  expect(row?.cpuPercent).toBeGreaterThanOrEqual(0);
  expect(row?.memory).toBeLessThanOrEqual(row?.memoryLimit ?? 0);
  expect(row?.processes).toBeGreaterThan(0);
});

it('shows what is not known as - and leaves it out of JSON', async () => {
  answers = [sample({ memory: 5 * 1024 * 1024 })];
  const table = await sbx.run(['stats', 'fake/box']);
  expect(table.stdout.split('\n')[1]?.trim().split(/ +/)).toEqual([
    'box',
    '-',
    '5M',
    '-',
    '-',
    '-',
    '-',
    '-',
  ]);
  const json = await sbx.run(['stats', 'fake/box', '--json']);
  expect(JSON.parse(json.stdout)).toEqual([
    { name: 'box', backend: 'fake', time: sample({}).time, memory: 5 * 1024 * 1024 },
  ]);
});

it('takes no share from a counter that went back', async () => {
  answers = [sample({ cpuMs: 5000 }), sample({ cpuMs: 10 })];
  expect((await sbx.run(['stats', 'fake/box', '--json'])).stdout).not.toContain('cpuPercent');
});

it('says what a backend without the capability lacks, and shows the others', async () => {
  await bare.create({ name: 'plain', env: {}, labels: {}, limits: {} }, call);
  answers = [sample({ processes: 3 })];
  const result = await sbx.run(['stats', 'bare/plain', 'fake/box', '--json']);
  expect(result.exit).toBe(5);
  expect(JSON.parse(result.stdout)).toMatchObject([{ backend: 'fake', processes: 3 }]);
  expect(result.stderr).toContain('stats');
});

it('streams one object a line with --watch --json until it is interrupted', async () => {
  answers = [sample({ cpuMs: 0 }), sample({ cpuMs: 100 }), sample({ cpuMs: 200 }), sample({ cpuMs: 300 })];
  const signals = new SignalHub();
  const io: MemoryIo[] = [];
  const done = sbx.run(['stats', 'fake/box', '--watch', '--interval', '250ms', '--json'], {
    signals,
    watch: (each) => io.push(each),
  });
  const lines = () => io[0]?.stdout.text.split('\n').slice(0, -1) ?? [];
  let ended = false;
  void done.then(() => {
    ended = true;
  });
  while (lines().length < 2 && !ended) await new Promise((next) => setImmediate(next));
  expect(ended).toBe(false);
  signals.deliver('SIGINT');
  await done;
  for (const line of lines())
    expect(JSON.parse(line)).toMatchObject({ name: 'box', cpuPercent: expect.any(Number) });
});

it('draws over the last table on a terminal, and ends when the sandbox is gone', async () => {
  answers = [sample({}), sample({}), sample({}), new SbxError('not_found', 'it is gone')];
  const result = await sbx.run(['stats', 'fake/box', '--watch', '--interval', '250ms'], {
    tty: { stdout: true },
  });
  expect(result.exit).toBe(3);
  expect(result.stdout.split('\u001b[2A\u001b[J')).toHaveLength(2);
  expect(result.stderr).toContain('it is gone');
});
