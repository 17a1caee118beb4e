import { describe, expect, it } from 'vitest';
import type { Backend, SandboxInfo } from '../../../src/lib/backend/contract.ts';
import { createMemoryBackend } from '../../../src/lib/backends/memory/index.ts';
import { listSandboxes } from '../../../src/lib/ops/list.ts';
import { backendsOf } from '../../support/command-line.ts';

const call = { signal: new AbortController().signal };

function withInfos(name: string, infos: readonly SandboxInfo[], before: () => Promise<void>): Backend {
  return {
    ...createMemoryBackend({ name }),
    async *list() {
      await before();
      yield* infos;
    },
  };
}

const info = (name: string, backend: string, createdAt: string): SandboxInfo => ({
  id: `${backend}-${name}`,
  name,
  backend,
  state: 'running',
  createdAt,
  labels: {},
});

describe('listSandboxes', () => {
  it('asks all backends at the same time', async () => {
    let arrived = 0;
    let open: () => void = () => undefined;
    const gate = new Promise<void>((done) => {
      open = done;
    });
    // Each waits for the other: one after the other would never end.
    const meet = async () => {
      arrived++;
      if (arrived === 2) open();
      await gate;
    };
    const a = withInfos('a', [info('old', 'a', '2026-01-01T00:00:00Z')], meet);
    const b = withInfos('b', [info('new', 'b', '2026-01-02T00:00:00Z')], meet);
    const { sandboxes, failures } = await listSandboxes(backendsOf([a, b]), { all: true }, call);
    expect(sandboxes.map(({ name }) => name)).toEqual(['new', 'old']);
    expect(failures).toEqual([]);
  });

  it('orders many, those of one moment by name', async () => {
    const many = Array.from({ length: 1000 }, (_, i) =>
      info(`n${String(i % 500).padStart(3, '0')}`, 'a', `2026-01-01T00:00:0${Math.floor(i / 500)}Z`),
    );
    const { sandboxes } = await listSandboxes(
      backendsOf([withInfos('a', many.reverse(), async () => undefined)]),
      { all: true },
      call,
    );
    expect(sandboxes).toHaveLength(1000);
    expect(
      [sandboxes[0], sandboxes[499], sandboxes[500]].map((each) => `${each?.name} ${each?.createdAt}`),
    ).toEqual(['n000 2026-01-01T00:00:01Z', 'n499 2026-01-01T00:00:01Z', 'n000 2026-01-01T00:00:00Z']);
  });

  it('does not hide a bug of ours as a backend that does not answer', async () => {
    const broken = withInfos('a', [], async () => {
      throw new TypeError('x is not a function');
    });
    await expect(listSandboxes(backendsOf([broken]), { all: true }, call)).rejects.toThrow(TypeError);
  });
});
