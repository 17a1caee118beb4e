/** Ports with a preview URL. */
import Type from 'typebox';
import type { Daemon } from '../daemon.ts';
import { HttpRefusal, noRoute } from '../http/refusal.ts';
import { type Route, route } from '../http/route.ts';
import type { ExposedPort } from '../preview/exposed-ports.ts';
import { port } from '../shapes.ts';

const exposedPort = Type.Object({
  port,
  exposeId: Type.String(),
  token: Type.Union([Type.String(), Type.Null()]),
  createdAt: Type.String({ format: 'date-time' }),
  url: Type.String({ format: 'uri' }),
});

export function exposeRoutes({ fleet, exposed, previews, now }: Daemon): Route[] {
  const shown = (id: string, { port, token, createdAt }: ExposedPort): Type.Static<typeof exposedPort> => ({
    port,
    exposeId: `${id}-${port}`,
    token,
    createdAt,
    url: previews.urlOf({ id, port }),
  });
  return [
    route({
      method: 'POST',
      path: '/sandboxes/:id/expose',
      summary: 'give a port a URL; one that has it already is exposed anew',
      body: Type.Object({
        port,
        token: Type.Optional(Type.Union([Type.String({ minLength: 1 }), Type.Null()])),
      }),
      answers: { 201: { description: 'the port', body: exposedPort } },
      async handle({ params, body, signal, json }) {
        using use = await fleet.use(params.id ?? '', { signal });
        const { id } = use.record;
        const { port, token = null } = body;
        const made: ExposedPort = { port, token, createdAt: now().toISOString() };
        exposed.put(id, made);
        json(201, shown(id, made));
      },
    }),
    route({
      method: 'GET',
      path: '/sandboxes/:id/expose',
      summary: 'its exposed ports',
      answers: { 200: { description: 'them', body: Type.Object({ exposed: Type.Array(exposedPort) }) } },
      handle({ params, json }) {
        const { id } = fleet.get(params.id ?? '');
        json(200, { exposed: exposed.list(id).map((each) => shown(id, each)) });
      },
    }),
    route({
      method: 'DELETE',
      path: '/sandboxes/:id/expose/:port',
      summary: 'take the URL of a port back',
      answers: { 200: { description: 'it is gone', body: Type.Object({ ok: Type.Literal(true) }) } },
      handle({ request, params, json }) {
        const { port = '' } = params;
        if (!/^\d+$/.test(port)) throw noRoute(request);
        if (!exposed.remove(fleet.get(params.id ?? '').id, Number(port)))
          throw new HttpRefusal(404, 'port not exposed');
        json(200, { ok: true });
      },
    }),
  ];
}
