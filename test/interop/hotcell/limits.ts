/** Caps of memory, processors and processes. */
import { expect, test } from 'vitest';
import { configured, type Harness } from './harness.ts';
import type { Info, SandboxRecord } from './shapes.ts';

const names = ['memoryMb', 'cpus', 'pidsLimit'] as const;

export function limitsTopic(h: Harness): void {
  test('those that are asked for are in the record, and no others', async () => {
    expect((await h.sandbox({ memoryMb: 256, cpus: 0.5, pidsLimit: 100 })).limits).toStrictEqual({
      memoryMb: 256,
      cpus: 0.5,
      pidsLimit: 100,
    });
    expect((await h.sandbox({ memoryMb: 0, cpus: 1, pidsLimit: 0 })).limits).toStrictEqual({ cpus: 1 });
    expect((await h.sandbox({ memoryMb: 0, cpus: 0, pidsLimit: 0 })).limits).toStrictEqual({});
  });

  test('the defaults of the server count for what is left out; 0 lifts one', () => {
    const { defaultMemoryMb, defaultCpus, defaultPidsLimit } = configured;
    return h.another(configured, async (api) => {
      const defaults = { defaultMemoryMb, defaultCpus, defaultPidsLimit };
      expect(await api.answer(200, 'GET /info')).toMatchObject(defaults);
      const limits = async (body: unknown) =>
        (await api.answer<SandboxRecord>(201, 'POST /sandboxes', body)).limits;
      expect(await limits({})).toStrictEqual({ memoryMb: 300, cpus: 1.5, pidsLimit: 200 });
      expect(await limits({ memoryMb: 64 })).toStrictEqual({ memoryMb: 64, cpus: 1.5, pidsLimit: 200 });
      expect(await limits({ memoryMb: 0, cpus: 0, pidsLimit: 0 })).toStrictEqual({});
    });
  });

  test('what has no default has no limit', async () => {
    const { defaultMemoryMb, defaultCpus, defaultPidsLimit } = await h.answer<Info>(200, 'GET /info');
    const defaults = { memoryMb: defaultMemoryMb, cpus: defaultCpus, pidsLimit: defaultPidsLimit };
    const set = Object.fromEntries(Object.entries(defaults).filter(([, value]) => value > 0));
    expect((await h.sandbox()).limits).toStrictEqual(set);
  });

  for (const name of names)
    test.each(['-1', '"5"', 'null', 'true', '[]', '{}', '1e999'])(`${name} %s is refused`, async (value) => {
      const text = await h.refusal(400, 'POST /sandboxes', `{"${name}":${value}}`);
      expect(text).toBe(`${name} must be a non-negative number`);
    });

  test('less memory than anything runs in is refused', async () => {
    const text = 'memoryMb must be at least 6 (Docker minimum)';
    expect(await h.refusal(400, 'POST /sandboxes', { memoryMb: 5.9 })).toBe(text);
    expect(await h.refusal(400, 'POST /sandboxes', { memoryMb: 0.1 })).toBe(text);
  });

  if (h.strict)
    test('half a process is refused', async () => {
      await h.refusal(400, 'POST /sandboxes', { pidsLimit: 1.5 });
    });

  const applied = h.when(h.has('limits applied'));
  applied('more processes than the limit do not start', async () => {
    const { id } = await h.sandbox({ pidsLimit: 20 });
    const { stderr } = await h.exec(id, 'for i in $(seq 40); do sleep 1000 & done; kill $(jobs -p)');
    expect(stderr).toMatch(/fork/i);
  });

  applied('more memory than the limit is not to be had', async () => {
    const { id } = await h.sandbox({ memoryMb: 64 });
    // What tail keeps, it keeps in memory.
    const { exitCode } = await h.exec(id, 'head -c 200000000 /dev/zero | tail -c 190000000 >/dev/null');
    expect(exitCode).not.toBe(0);
    expect(await h.say(id, 'echo alive')).toBe('alive');
  });
}
