import { afterAll, expect, test, vi } from 'vitest';
import type { Backend, SandboxInfo } from '../../../src/lib/backend/contract.ts';
import { createMemoryBackend } from '../../../src/lib/backends/memory/index.ts';
import { SbxError } from '../../../src/lib/errors.ts';
import type { CreateRequest, CreateTools } from '../../../src/lib/ops/create.ts';
import { execute } from '../../../src/lib/ops/exec.ts';
import { type RunOnceOptions, runOnce } from '../../../src/lib/ops/run.ts';
import { call, plain } from '../../conformance/harness.ts';
import { printed, testHost } from '../../support/exec-host.ts';
import { toldTo } from '../../support/progress.ts';

const backend = createMemoryBackend();
afterAll(() => backend.dispose());

const create: CreateRequest = {
  spec: plain,
  given: [],
  setup: [],
  wait: [],
  waitTimeoutMs: 1000,
  ifNotExists: false,
};
const tools: CreateTools = {
  having: () => [],
  git: { env: {} },
  progress: toldTo([]),
};

function running(text: string, more: Partial<RunOnceOptions> = {}) {
  const host = testHost();
  const told: string[] = [];
  const code = (on: Backend = backend) =>
    runOnce(on, host, {
      create,
      tools,
      keep: false,
      tell: (line) => told.push(line),
      act: async (sandbox, own) =>
        (await execute(sandbox, { argv: ['sh', '-c', text], stdin: false, mustEnd: true }, own)).exitCode,
      ...more,
    });
  return { host, told, code };
}

async function left(): Promise<string[]> {
  const found: SandboxInfo[] = [];
  for await (const info of backend.list({ all: true }, call)) found.push(info);
  return found.map(({ name }) => name);
}

test('the command’s exit code comes back and nothing is left', async () => {
  const { code, host } = running('echo out; exit 9');
  expect(await code()).toBe(9);
  expect(host.io.stdout.text()).toBe('out\n');
  expect(await left()).toEqual([]);
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('%s while it runs ends the command and removes the sandbox', async (name, exitCode) => {
  const { code, host } = running('echo ready; exec sleep 1000');
  const result = code();
  await printed(host.io.stdout, 'ready');
  host.signals.deliver(name);
  expect(await result).toBe(exitCode);
  expect(await left()).toEqual([]);
});

test('SIGTERM ends a command for certain', async () => {
  const { code, host } = running("trap 'echo heard' TERM; echo ready; while :; do sleep 0.05; done");
  const result = code();
  await printed(host.io.stdout, 'ready');
  host.signals.deliver('SIGTERM');
  await printed(host.io.stdout, 'heard');
  expect(await result).toBe(137);
  expect(await left()).toEqual([]);
}, 20_000);

test('Ctrl-C while the sandbox is made leaves nothing and runs nothing', async () => {
  const act = vi.fn(async () => 0);
  const { code, host } = running('', { act });
  const slow: Backend = {
    ...backend,
    create: (spec, own) => {
      host.signals.deliver('SIGINT');
      host.signals.deliver('SIGINT');
      return backend.create(spec, own);
    },
  };
  expect(await code(slow)).toBe(130);
  expect(act).not.toHaveBeenCalled();
  expect(await left()).toEqual([]);
});

test('Ctrl-C between making and running removes the sandbox', async () => {
  const { code, host } = running('', {
    act: async (sandbox, own) => {
      expect(host.signals.deliver('SIGTERM')).toBe(false);
      return (await execute(sandbox, { argv: ['echo', 'ran'], stdin: false }, own)).exitCode;
    },
  });
  expect(await code()).toBe(143);
  expect(host.io.stdout.text()).toBe('');
  expect(await left()).toEqual([]);
});

test('more signals during the removal are answered, and it is finished', async () => {
  const { code, host, told } = running('exit 4');
  const slow: Backend = {
    ...backend,
    destroy: async (ref, options, own) => {
      for (let i = 0; i < 3; i++) expect(host.signals.deliver('SIGINT')).toBe(false);
      expect(own.signal.aborted).toBe(false);
      await backend.destroy(ref, options, own);
    },
  };
  expect(await code(slow)).toBe(4);
  expect(told).toHaveLength(3);
  expect(told[0]).toMatch(/^removing sandbox '.+'; one moment$/);
  expect(await left()).toEqual([]);
});

test('a failure of ours removes the sandbox and is thrown', async () => {
  const { code } = running('', {
    act: async () => Promise.reject(new SbxError('unreachable', 'the link is lost')),
  });
  await expect(code()).rejects.toMatchObject({ code: 'unreachable' });
  expect(await left()).toEqual([]);
});

test('a removal that fails is an error when the command was fine, and a warning otherwise', async () => {
  const stuck: Backend = { ...backend, destroy: async () => Promise.reject(new SbxError('failed', 'busy')) };
  await expect(running('exit 0').code(stuck)).rejects.toMatchObject({
    message: expect.stringContaining('busy'),
  });
  const bad = running('exit 5');
  expect(await bad.code(stuck)).toBe(5);
  expect(bad.told).toEqual([
    expect.stringMatching(/^warning: sandbox '.+' could not be removed: busy; try: sbx rm --force/),
  ]);
  for (const name of await left()) await backend.destroy(name, { force: true }, call);
});

test('keep leaves it running and says its name', async () => {
  const { code, told } = running('exit 3', { keep: true });
  expect(await code()).toBe(3);
  const [name = ''] = await left();
  expect(told).toEqual([`kept sandbox '${name}'; remove it with: sbx rm --force ${name}`]);
  await backend.destroy(name, { force: true }, call);
});
