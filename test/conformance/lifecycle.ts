/** Making, finding, listing and removing sandboxes. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { ListQuery, SandboxInfo } from '../../src/lib/backend/contract.ts';
import { SbxError } from '../../src/lib/errors.ts';
import { call, type Harness, plain, refusal, say } from './harness.ts';

export function lifecycleConformance(h: Harness): void {
  const list = async (query: ListQuery): Promise<SandboxInfo[]> => {
    const found: SandboxInfo[] = [];
    for await (const info of h.backend().list(query, call)) found.push(info);
    return found;
  };
  const names = async (query: ListQuery) => (await list(query)).map(({ name }) => name);

  test('a new sandbox runs and is what was asked for', async () => {
    const name = uniqueName();
    const before = Date.now();
    const sandbox = await h.sandbox({ name, labels: { team: 'web', empty: '' } });
    expect(sandbox.name).toBe(name);
    expect(sandbox.backend).toBe(h.backend().name);
    const info = await sandbox.info(call);
    expect(info).toMatchObject({ id: sandbox.id, name, backend: h.backend().name, state: 'running' });
    expect(info.labels).toMatchObject({ team: 'web', empty: '' });
    expect(new Date(info.createdAt).toISOString()).toBe(info.createdAt);
    expect(Math.abs(Date.parse(info.createdAt) - before)).toBeLessThan(120_000);
    expect(await say(sandbox, 'echo works')).toBe('works');
  });

  test('it is found by name and by id', async () => {
    const sandbox = await h.sandbox({ name: uniqueName() });
    for (const ref of [sandbox.name, sandbox.id]) {
      const found = await h.backend().get(ref, call);
      expect([found.id, found.name]).toEqual([sandbox.id, sandbox.name]);
      expect(await say(found, 'echo works')).toBe('works');
    }
  });

  test.each(['no-such-sandbox', '', '.', '..', '../x', '/', 'a/b', '-x', 'x\ny', 'x'.repeat(5000)])(
    'nothing is found for %j',
    async (ref) => {
      expect((await refusal(h.backend().get(ref, call))).code).toBe('not_found');
    },
  );

  test('sandboxes without a name get distinct ones, also at once', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => h.sandbox()));
    expect(new Set(made.map(({ name }) => name)).size).toBe(8);
    expect(new Set(made.map(({ id }) => id)).size).toBe(8);
  });

  test('two sandboxes do not share files', async () => {
    const [one, other] = await Promise.all([h.sandbox(), h.sandbox()]);
    await say(one, 'echo secret > file-of-one');
    expect(await say(other, 'test -e file-of-one || echo absent')).toBe('absent');
  });

  test('a taken name is refused and the first one stays', async () => {
    const sandbox = await h.sandbox({ name: uniqueName() });
    await say(sandbox, 'echo first > mine');
    expect((await refusal(h.sandbox({ name: sandbox.name }))).code).toBe('conflict');
    const furnished = h.backend().create({ ...plain, name: sandbox.name }, call, async () => undefined);
    expect((await refusal(furnished)).code).toBe('conflict');
    expect(await say(await h.backend().get(sandbox.name, call), 'cat mine')).toBe('first');
  });

  test('of several that want one name at once one gets it', async () => {
    const name = uniqueName();
    const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => h.sandbox({ name })));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await names({ all: true })).filter((each) => each === name)).toHaveLength(1);
    expect(await say(await h.backend().get(name, call), 'echo works')).toBe('works');
  });

  test('one that was given up leaves nothing behind', async () => {
    const name = uniqueName();
    const attempt = h.backend().create({ ...plain, name }, { signal: AbortSignal.abort() });
    expect((await refusal(attempt)).code).toBe('interrupted');
    expect(await names({ all: true })).not.toContain(name);
  });

  test('what it is furnished with is there before its main command, and nobody else has it before', async () => {
    const name = uniqueName();
    const command = h.manifest.createOptions.includes('command')
      ? (['sh', '-c', 'cp gift got; exec sleep 1000'] as const)
      : undefined;
    const sandbox = await h
      .backend()
      .create({ ...plain, name, ...(command && { command }) }, call, async (half) => {
        await say(half, 'echo bow > gift');
      });
    try {
      expect(await say(sandbox, 'cat gift')).toBe('bow');
      if (command !== undefined)
        expect(await say(sandbox, 'until [ -s got ]; do sleep 0.05; done; cat got')).toBe('bow');
    } finally {
      await h.backend().destroy(name, { force: true }, call);
    }
  });

  test('one that cannot be furnished leaves nothing behind', async () => {
    const name = uniqueName();
    const attempt = h.backend().create({ ...plain, name }, call, async () => {
      throw new SbxError('failed', 'no gift');
    });
    expect((await refusal(attempt)).message).toContain('no gift');
    expect(await names({ all: true })).not.toContain(name);
  });

  test('a list holds each one, and filters by label', async () => {
    const mark = randomUUID();
    const a = await h.sandbox({ labels: { mark, role: 'a' } });
    const b = await h.sandbox({ labels: { mark } });
    expect((await names({ all: false, labels: { mark } })).sort()).toEqual([a.name, b.name].sort());
    expect(await names({ all: false, labels: { mark, role: 'a' } })).toEqual([a.name]);
    expect(await names({ all: false, labels: { mark, role: '' } })).toEqual([a.name]);
    expect(await names({ all: false, labels: { mark, role: 'b' } })).toEqual([]);
    const [listed] = await list({ all: false, labels: { mark, role: 'a' } });
    // What costs a look at each may be missing in a list; the rest is the same.
    expect(await a.info(call)).toMatchObject(known(listed));
  });

  test('a running one is removed only by force', async () => {
    const sandbox = await h.sandbox({ name: uniqueName() });
    const { destroy } = h.backend();
    expect((await refusal(destroy.call(h.backend(), sandbox.name, { force: false }, call))).code).toBe(
      'conflict',
    );
    expect(await say(sandbox, 'echo still')).toBe('still');
    await h.backend().destroy(sandbox.name, { force: true }, call);
    expect((await refusal(h.backend().get(sandbox.name, call))).code).toBe('not_found');
    expect((await refusal(sandbox.info(call))).code).toBe('not_found');
    expect(await names({ all: true })).not.toContain(sandbox.name);
  });

  test('removing a missing one is an error, by force it is none', async () => {
    expect((await refusal(h.backend().destroy('no-such', { force: false }, call))).code).toBe('not_found');
    await h.backend().destroy('no-such', { force: true }, call);
  });

  test('removing one twice at once is no error', async () => {
    const sandbox = await h.sandbox();
    await Promise.all([1, 2, 3].map(() => h.backend().destroy(sandbox.id, { force: true }, call)));
    expect((await refusal(h.backend().get(sandbox.id, call))).code).toBe('not_found');
  });

  test('a removed one’s name is free again', async () => {
    const sandbox = await h.sandbox({ name: uniqueName() });
    await say(sandbox, 'echo old > left-over');
    await h.backend().destroy(sandbox.id, { force: true }, call);
    const next = await h.sandbox({ name: sandbox.name });
    expect(await say(next, 'test -e left-over || echo clean')).toBe('clean');
  });

  h.when(h.manifest.createOptions.includes('ttl'))('one whose time is up is removed', async () => {
    const sandbox = await h.sandbox({ ttl: 1000 });
    const { expiresAt } = await sandbox.info(call);
    expect(Math.abs(Date.parse(expiresAt ?? '') - Date.now())).toBeLessThan(60_000);
    const state = () =>
      h
        .backend()
        .get(sandbox.id, call)
        .then(() => 'there')
        .catch((error: { code: string }) => error.code);
    await expect.poll(state, { timeout: 20_000 }).toBe('not_found');
  });
}

function known(info: SandboxInfo | undefined): object {
  return Object.fromEntries(Object.entries(info ?? {}).filter((entry) => entry[1] !== undefined));
}

/** A name that nobody has. */
export function uniqueName(): string {
  return `conformance-${randomUUID().slice(0, 13)}`;
}
