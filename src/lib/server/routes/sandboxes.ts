/** Making, finding, stopping and removing sandboxes. */
import Type from 'typebox';
import { unhurried } from '../../backend/unhurried.ts';
import { create } from '../create.ts';
import type { Daemon } from '../daemon.ts';
import { fork } from '../fork.ts';
import { type Route, route } from '../http/route.ts';
import { rename } from '../rename.ts';
import { createBody, environment, lifetime, sandboxRecord, strings } from '../shapes.ts';

/** Labels are in the place of those of the source, variables over its own. */
const forkBody = Type.Object({
  name: Type.Optional(Type.String()),
  labels: Type.Optional(strings),
  env: Type.Optional(environment),
});

export function sandboxRoutes(daemon: Daemon): Route[] {
  const { fleet } = daemon;
  const one = { description: 'the sandbox', body: sandboxRecord };
  return [
    route({
      method: 'POST',
      path: '/sandboxes',
      summary: 'make a sandbox that runs',
      body: createBody,
      answers: { 201: one },
      handle: async ({ body, signal, json }) => json(201, await create(daemon, body, { signal })),
    }),
    route({
      method: 'GET',
      path: '/sandboxes',
      summary: 'all sandboxes, the oldest first',
      answers: { 200: { description: 'them', body: Type.Object({ sandboxes: Type.Array(sandboxRecord) }) } },
      handle: ({ json }) => json(200, { sandboxes: fleet.list() }),
    }),
    route({
      method: 'GET',
      path: '/sandboxes/:id',
      summary: 'one sandbox, by id or name',
      answers: { 200: one },
      handle: ({ params, json }) => json(200, fleet.get(params.id ?? '')),
    }),
    route({
      method: 'DELETE',
      path: '/sandboxes/:id',
      summary: 'remove a sandbox with its files',
      answers: {
        200: {
          description: 'it is gone',
          body: Type.Object({ id: Type.String(), destroyed: Type.Literal(true) }),
        },
      },
      async handle({ params, json }) {
        const { id } = await fleet.destroy(params.id ?? '', unhurried);
        json(200, { id, destroyed: true });
      },
    }),
    route({
      method: 'POST',
      path: '/sandboxes/:id/start',
      summary: 'start one that is stopped or paused',
      answers: { 200: one },
      handle: async ({ params, json }) => json(200, await fleet.start(params.id ?? '', unhurried)),
    }),
    route({
      method: 'POST',
      path: '/sandboxes/:id/stop',
      summary: 'stop it: files stay, nothing wakes it but a start',
      answers: { 200: one },
      handle: async ({ params, json }) => json(200, await fleet.stop(params.id ?? '', unhurried)),
    }),
    route({
      method: 'POST',
      path: '/sandboxes/:id/pause',
      summary: 'pause it: any use wakes it',
      answers: { 200: one },
      handle: async ({ params, json }) => json(200, await fleet.pause(params.id ?? '', unhurried)),
    }),
    route({
      method: 'POST',
      path: '/sandboxes/:id/rename',
      summary: 'give it another name',
      body: Type.Object({ name: Type.String() }),
      answers: { 200: one },
      handle: async ({ params, body, json }) =>
        json(200, await rename(daemon, params.id ?? '', body.name, unhurried)),
    }),
    route({
      method: 'POST',
      path: '/sandboxes/:id/fork',
      summary: 'make another sandbox from its present files',
      body: forkBody,
      answers: { 201: one },
      handle: async ({ params, body, signal, json }) =>
        json(201, await fork(daemon, params.id ?? '', body, { signal })),
    }),
    route({
      method: 'POST',
      path: '/sandboxes/:id/extend',
      summary: 'remove it `ms` milliseconds from now; without, never',
      body: Type.Object({ ms: Type.Optional(lifetime) }),
      answers: { 200: one },
      handle: ({ params, body, json }) => json(200, fleet.extend(params.id ?? '', body.ms)),
    }),
  ];
}
