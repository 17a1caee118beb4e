/** What a sandbox takes now, has taken, and costs. */
import Type from 'typebox';
import { costOf } from '../cost.ts';
import type { Daemon } from '../daemon.ts';
import { type Route, route } from '../http/route.ts';
import { usage } from '../shapes.ts';

const live = {
  cpuPercent: Type.Number(),
  memBytes: Type.Number(),
  memLimitBytes: Type.Number(),
  pids: Type.Number(),
  netRxBytes: Type.Number(),
  netTxBytes: Type.Number(),
};
const metrics = Type.Object({
  status: Type.String(),
  live: Type.Union([Type.Object(live), Type.Null()]),
  usage,
  cost: Type.Object({
    cpu: Type.Number(),
    mem: Type.Number(),
    egress: Type.Number(),
    total: Type.Number(),
  }),
});
const samples = Type.Object({
  samples: Type.Array(Type.Object({ time: Type.String({ format: 'date-time' }), ...live })),
});

export function metricsRoutes({ fleet, meter, settings }: Daemon): Route[] {
  return [
    route({
      method: 'GET',
      path: '/sandboxes/:id/metrics',
      summary: 'what it takes now, has taken, and costs; `?live=0` leaves out what takes time to find',
      query: Type.Object({ live: Type.Optional(Type.String()) }),
      answers: { 200: { description: '`live` is null for one that does not run', body: metrics } },
      async handle({ params, query, signal, json }) {
        const { id, status } = fleet.get(params.id ?? '');
        const wanted = status === 'running' && query.get('live') !== '0';
        const live = wanted ? await meter.look(id, { signal }) : undefined;
        const record = fleet.get(id);
        json(200, {
          status: record.status,
          live: live ?? null,
          usage: record.usage,
          cost: costOf(record.usage, settings.cost),
        });
      },
    }),
    route({
      method: 'GET',
      path: '/sandboxes/:id/metrics/history',
      summary: 'samples of the last half hour, the oldest first',
      answers: { 200: { description: 'them', body: samples } },
      handle: ({ params, json }) => json(200, { samples: meter.samples(fleet.get(params.id ?? '').id) }),
    }),
  ];
}
