/** What a sandbox takes now, has taken, and costs. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import { about, type Info, type SandboxRecord, usage } from './shapes.ts';

interface Metrics {
  readonly usage: SandboxRecord['usage'];
}

export function metricsTopic(h: Harness): void {
  const number = expect.any(Number);
  const live = {
    cpuPercent: number,
    memBytes: number,
    memLimitBytes: number,
    pids: number,
    netRxBytes: number,
    netTxBytes: number,
  };
  const cost = { cpu: number, mem: number, egress: number, total: number };

  test('of one that runs', async () => {
    const { id } = await h.sandbox();
    const to = `GET /sandboxes/${id}/metrics` as const;
    expect(await h.answer(200, to)).toStrictEqual({ status: 'running', live, usage, cost });
    expect(await h.answer(200, `${to}?live=1`)).toMatchObject({ live });
  });

  test('live=0 leaves out what takes time to find', async () => {
    const { id } = await h.shared();
    expect(await h.answer(200, `GET /sandboxes/${id}/metrics?live=0`)).toStrictEqual({
      status: 'running',
      live: null,
      usage,
      cost,
    });
  });

  test.each([
    ['stop', 'stopped'],
    ['pause', 'paused'],
  ])('after %s there is nothing live', async (verb, status) => {
    const { id } = await h.sandbox();
    await h.answer(200, `POST /sandboxes/${id}/${verb}`);
    const metrics = await h.answer(200, `GET /sandboxes/${id}/metrics`);
    expect(metrics).toStrictEqual({ status, live: null, usage, cost });
  });

  test('the cost is what was used at the rates of info', async () => {
    const info = await h.answer<Info>(200, 'GET /info');
    const { id } = await h.sandbox();
    const metrics = await h.answer<Metrics>(200, `GET /sandboxes/${id}/metrics`);
    const cpu = (metrics.usage.cpuSeconds / 3600) * info.costCpuPerHour;
    const mem = (metrics.usage.memGbSeconds / 3600) * info.costMemGbPerHour;
    const egress = (metrics.usage.egressBytes / 1e9) * info.costEgressPerGb;
    expect(metrics).toMatchObject({
      cost: { cpu: about(cpu), mem: about(mem), egress: about(egress), total: about(cpu + mem + egress) },
    });
  });

  test('history is a list, and empty at first', async () => {
    const { id } = await h.sandbox();
    expect(await h.answer(200, `GET /sandboxes/${id}/metrics/history`)).toStrictEqual({ samples: [] });
  });
}
