/** What the server did lately. */
import Type from 'typebox';
import type { Daemon } from '../daemon.ts';
import { type Route, route } from '../http/route.ts';

/** Spans that are told where nobody says how many. */
const LIMIT = 100;

const span = Type.Object({
  name: Type.String(),
  traceId: Type.String(),
  startTime: Type.Number(),
  endTime: Type.Number(),
  attributes: Type.Record(Type.String(), Type.Unknown()),
  status: Type.Enum(['ok', 'error']),
});
const query = Type.Object({
  limit: Type.Optional(
    Type.String({ pattern: '^[1-9][0-9]{0,8}$', refusal: 'limit must be a positive whole number' }),
  ),
});

export function traceRoutes({ traces }: Daemon): Route[] {
  return [
    route({
      method: 'GET',
      path: '/traces',
      summary: 'spans of the latest requests, the newest first',
      query,
      answers: { 200: { description: 'them', body: Type.Object({ spans: Type.Array(span) }) } },
      handle: ({ query, json }) => json(200, { spans: traces.latest(Number(query.get('limit') ?? LIMIT)) }),
    }),
  ];
}
