/** The environment of a sandbox's commands. */
import Type from 'typebox';
import type { Daemon } from '../daemon.ts';
import { type Route, route } from '../http/route.ts';
import { environmentChanges, strings } from '../shapes.ts';

const answer = { description: 'the whole environment', body: Type.Object({ env: strings }) };
const changes = Type.Object({
  env: Type.Optional(environmentChanges),
});

export function envRoutes({ fleet, rows }: Daemon): Route[] {
  return [
    route({
      method: 'GET',
      path: '/sandboxes/:id/env',
      summary: 'the environment that its commands get',
      answers: { 200: answer },
      handle: ({ params, json }) => json(200, { env: fleet.get(params.id ?? '').env }),
    }),
    route({
      method: 'POST',
      path: '/sandboxes/:id/env',
      summary: 'change some variables; null takes one away',
      body: changes,
      answers: { 200: answer },
      async handle({ params, body, signal, json }) {
        using use = await fleet.look(params.id ?? '', { signal });
        const record = fleet.get(use.record.id);
        // What it was made with is known to its backend, and would come back.
        await use.sandbox.can.env?.update(body.env ?? {}, { signal });
        const merged = Object.entries({ ...record.env, ...body.env });
        const env = Object.fromEntries(merged.filter((each): each is [string, string] => each[1] !== null));
        rows.change(record.id, { env });
        json(200, { env });
      },
    }),
  ];
}
