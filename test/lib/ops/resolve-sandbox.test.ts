import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from '../../../src/lib/backend/contract.ts';
import { createMemoryBackend } from '../../../src/lib/backends/memory/index.ts';
import { SbxError } from '../../../src/lib/errors.ts';
import { type ResolveContext, resolveSandbox, splitRef } from '../../../src/lib/ops/resolve-sandbox.ts';
import { answering, backendsOf, unreachableBackend } from '../../support/command-line.ts';

const call = { signal: new AbortController().signal };
const one = createMemoryBackend({ name: 'one' });
const two = createMemoryBackend({ name: 'two' });
const asked: string[] = [];
let said: string[] = [];

afterAll(() => Promise.all([one.dispose(), two.dispose()]));

beforeEach(async () => {
  said = [];
  asked.length = 0;
  for (const backend of [one, two]) {
    for await (const { id } of backend.list({ all: true }, call))
      await backend.destroy(id, { force: true }, call);
  }
});

const make = (backend: Backend, name: string) =>
  backend.create({ name, env: {}, labels: {}, limits: {} }, call);

/** Remembers which backend was asked. */
function counted(backend: Backend): Backend {
  return {
    ...backend,
    get(ref, each) {
      asked.push(`${backend.name} get`);
      return backend.get(ref, each);
    },
    list(query, each) {
      asked.push(`${backend.name} list`);
      return backend.list(query, each);
    },
  };
}

function context(
  options: { env?: Record<string, string>; backend?: string; choice?: number; more?: Backend[] } = {},
): ResolveContext {
  return {
    env: options.env ?? {},
    settings: { backend: options.backend },
    clock: { now: () => new Date() },
    logger: { info: (text) => void said.push(text), warn: (text) => void said.push(`warning: ${text}`) },
    prompter: async () =>
      options.choice === undefined ? { ...answering(false), canAsk: false } : answering(options.choice),
    backends: async () => backendsOf([counted(one), counted(two), ...(options.more ?? [])]),
  };
}

describe('a sandbox that is named', () => {
  it('is looked up on the default backend alone', async () => {
    await make(one, 'box');
    expect((await resolveSandbox(context(), 'box', call)).backend).toBe('one');
    expect(asked).toEqual(['one get']);
    expect(said).toEqual([]);
  });

  it('is found by BACKEND/NAME, by --backend and by id', async () => {
    const { id } = await make(two, 'box');
    expect((await resolveSandbox(context(), 'two/box', call)).id).toBe(id);
    expect((await resolveSandbox(context({ backend: 'two' }), 'box', call)).id).toBe(id);
    expect((await resolveSandbox(context(), `two/${id}`, call)).id).toBe(id);
    expect(asked).toEqual(['two get', 'two get', 'two get']);
  });

  it('is not found: near names, or the backend that has it', async () => {
    await make(one, 'web-server');
    await make(two, 'box');
    await expect(resolveSandbox(context(), 'web-srever', call)).rejects.toMatchObject({
      code: 'not_found',
      message: "there is no sandbox 'web-srever' on backend 'one'",
      hint: "did you mean 'web-server'? see them all: sbx ls --all",
    });
    await expect(resolveSandbox(context(), 'box', call)).rejects.toMatchObject({
      hint: 'it is on another backend: two/box',
    });
    await expect(
      resolveSandbox(context({ more: [unreachableBackend('far')] }), 'zzz', call),
    ).rejects.toMatchObject({
      code: 'not_found',
      hint: 'see them all: sbx ls --all',
    });
  });

  it('is not found for a reason that its backend knows', async () => {
    const message = "sandbox 'box' has expired";
    const hint = 'make another one: sbx create';
    const get = () => Promise.reject(new SbxError('not_found', message, { backend: 'three', hint }));
    const more = [{ ...one, name: 'three', get }];
    await expect(resolveSandbox(context({ more }), 'three/box', call)).rejects.toMatchObject({
      message,
      hint,
    });
  });

  it('is refused when its backend is unknown, contradicted or empty', async () => {
    await expect(resolveSandbox(context(), 'nowhere/box', call)).rejects.toMatchObject({ code: 'not_found' });
    await expect(resolveSandbox(context({ backend: 'two' }), 'one/box', call)).rejects.toMatchObject({
      code: 'usage',
    });
    for (const ref of ['', '/', 'one/', '/box']) expect(() => splitRef(ref)).toThrow(/names no sandbox/);
  });

  it('passes on that the backend cannot be reached', async () => {
    await expect(
      resolveSandbox(context({ more: [unreachableBackend('far')] }), 'far/box', call),
    ).rejects.toMatchObject({
      code: 'unreachable',
    });
  });
});

describe('a sandbox that is not named', () => {
  it('is that of SBX_SANDBOX, and stderr says so', async () => {
    await make(one, 'box');
    await make(two, 'other');
    expect((await resolveSandbox(context({ env: { SBX_SANDBOX: 'two/other' } }), undefined, call)).name).toBe(
      'other',
    );
    expect(said).toEqual(["using sandbox 'other' from SBX_SANDBOX"]);
  });

  it('is the only one that runs, on whatever backend', async () => {
    const stopped = await make(one, 'stopped');
    await stopped.can.power?.stop({ graceMs: 0 }, call);
    await make(two, 'box');
    expect((await resolveSandbox(context(), undefined, call)).name).toBe('box');
    expect(said).toEqual(["using sandbox 'box', the only running one"]);
  });

  it('is looked for on the backend of --backend alone', async () => {
    await make(one, 'a');
    await make(two, 'b');
    expect((await resolveSandbox(context({ backend: 'two' }), undefined, call)).name).toBe('b');
  });

  it('is asked for on a terminal', async () => {
    await make(one, 'a');
    await make(two, 'b');
    const choosing = context({ choice: 1 });
    const picked = await resolveSandbox(choosing, undefined, call);
    expect(['a', 'b']).toContain(picked.name);
  });

  it('is an error of usage with the command to run when there are none or several', async () => {
    await expect(resolveSandbox(context(), undefined, call, { verb: 'exec' })).rejects.toMatchObject({
      code: 'usage',
      message: 'no sandbox is named and none is running',
      hint: 'make one: sbx create, or name one: sbx exec NAME',
    });
    await make(two, 'a');
    await make(two, 'b');
    await expect(resolveSandbox(context(), undefined, call, { verb: 'exec' })).rejects.toMatchObject({
      code: 'usage',
      message: 'no sandbox is named and 2 are running',
      hint: expect.stringMatching(/^sbx exec two\/[ab]$/),
    });
  });

  it('warns of a backend that cannot be asked, and fails with its error when nothing else is there', async () => {
    const far = unreachableBackend('far');
    await expect(resolveSandbox(context({ more: [far] }), undefined, call)).rejects.toMatchObject({
      code: 'unreachable',
    });
    await make(one, 'a');
    said = [];
    expect((await resolveSandbox(context({ more: [far] }), undefined, call)).name).toBe('a');
    expect(said[0]).toBe("warning: backend 'far' could not be asked: backend 'far' does not answer");
  });
});
