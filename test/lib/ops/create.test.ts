import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/lib/backend/contract.ts';
import { createMemoryBackend, type MemoryBackend } from '../../../src/lib/backends/memory/index.ts';
import { SbxError } from '../../../src/lib/errors.ts';
import { type CreateRequest, createSandbox } from '../../../src/lib/ops/create.ts';
import { toldTo } from '../../support/progress.ts';

const call = { signal: new AbortController().signal };
const all: MemoryBackend[] = [];
let memory: MemoryBackend;

beforeEach(() => {
  memory = createMemoryBackend();
  all.push(memory);
});
afterAll(() => Promise.all(all.map((backend) => backend.dispose())));

const request = (more: Partial<CreateRequest> = {}): CreateRequest => ({
  spec: { env: {}, labels: {}, limits: {} },
  given: [],
  setup: [],
  wait: [],
  waitTimeoutMs: 1000,
  ifNotExists: false,
  ...more,
});

function tools(): Parameters<typeof createSandbox>[2] & { readonly said: string[] } {
  const said: string[] = [];
  return {
    said,
    having: () => ['other'],
    git: { env: {} },
    progress: toldTo(said),
  };
}

describe('createSandbox', () => {
  it('makes up another name when the first ones are taken, but never replaces a given one', async () => {
    const tried: (string | undefined)[] = [];
    const crowded: Backend = {
      ...memory,
      create(spec, each) {
        tried.push(spec.name);
        if (tried.length < 3) throw new SbxError('conflict', 'taken');
        return memory.create(spec, each);
      },
    };
    const { sandbox } = await createSandbox(crowded, request(), tools(), call);
    expect(tried).toHaveLength(3);
    expect(new Set(tried).size).toBe(3);
    expect(sandbox.name).toBe(tried[2]);
    tried.length = 0;
    const named = request({ spec: { name: 'box', env: {}, labels: {}, limits: {} } });
    await expect(createSandbox(crowded, named, tools(), call)).rejects.toMatchObject({ code: 'conflict' });
    expect(tried).toEqual(['box']);
  });

  it('gives 50 at once distinct names', async () => {
    const made = await Promise.all(
      Array.from({ length: 50 }, () => createSandbox(memory, request(), tools(), call)),
    );
    expect(new Set(made.map(({ sandbox }) => sandbox.name)).size).toBe(50);
  });

  it('refuses what the backend cannot do before it makes anything', async () => {
    const bare: Backend = { ...memory, manifest: { ...memory.manifest, capabilities: {} } };
    await expect(
      createSandbox(memory, request({ given: [{ option: 'image', as: '--image' }] }), tools(), call),
    ).rejects.toMatchObject({
      code: 'unsupported',
      message: "backend 'memory' (memory) cannot honour --image",
    });
    await expect(
      createSandbox(bare, request({ wait: [{ kind: 'port', port: 80 }] }), tools(), call),
    ).rejects.toMatchObject({
      code: 'unsupported',
      message: "backend 'memory' does not support ports",
      hint: 'backends that do: other',
    });
    for await (const info of memory.list({ all: true }, call)) expect(info).toBeUndefined();
  });

  it('says how to remove what it could not remove itself', async () => {
    const sticky: Backend = {
      ...memory,
      destroy: async () => Promise.reject(new SbxError('unreachable', 'gone away')),
    };
    const failing = request({
      spec: { name: 'box', env: {}, labels: {}, limits: {} },
      wait: [{ kind: 'port', port: 80 }],
      waitTimeoutMs: 1,
    });
    await expect(createSandbox(sticky, failing, tools(), call)).rejects.toMatchObject({
      code: 'failed',
      message: expect.stringMatching(/; and the half-made sandbox 'box' could not be removed: gone away$/),
      hint: 'sbx rm --force memory/box',
    });
  });

  it('takes the one that somebody else made in the same moment with ifNotExists', async () => {
    let raced = false;
    const racing: Backend = {
      ...memory,
      async create(spec, each) {
        if (raced) throw new Error('created twice');
        raced = true;
        await memory.create(spec, each);
        throw new SbxError('conflict', 'taken');
      },
    };
    const named = request({ spec: { name: 'box', env: {}, labels: {}, limits: {} }, ifNotExists: true });
    expect(await createSandbox(racing, named, tools(), call)).toMatchObject({
      existed: true,
      sandbox: { name: 'box' },
    });
  });
});
