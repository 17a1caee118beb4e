/** Snapshots of sandboxes, which outlive them. */
import Type from 'typebox';
import { unhurried } from '../../backend/unhurried.ts';
import type { Daemon } from '../daemon.ts';
import { type Route, route } from '../http/route.ts';
import { sandboxRecord, strings } from '../shapes.ts';
import type { Snapshot } from '../store/snapshots.ts';

const snapshot = Type.Object({
  id: Type.String(),
  name: Type.Optional(Type.String()),
  createdAt: Type.String({ format: 'date-time' }),
  sandbox: Type.Optional(Type.String()),
  size: Type.Optional(Type.Number()),
  labels: strings,
  driver: Type.String(),
});

export function snapshotRoutes({ snapshots }: Daemon): Route[] {
  const one = { description: 'the snapshot', body: snapshot };
  return [
    route({
      method: 'POST',
      path: '/sandboxes/:id/snapshots',
      summary: 'take a snapshot of its files, in whatever state it is',
      body: Type.Object({ name: Type.Optional(Type.String()), labels: Type.Optional(strings) }),
      answers: { 201: one },
      handle: async ({ params, body, signal, json }) =>
        json(201, told(await snapshots.take(params.id ?? '', body, { signal }))),
    }),
    route({
      method: 'POST',
      path: '/sandboxes/:id/snapshots/restore',
      summary: 'its files become those of a snapshot; its processes end, and if it runs it runs again',
      body: Type.Object({ snapshot: Type.String({ minLength: 1 }) }),
      answers: { 200: { description: 'the sandbox', body: sandboxRecord } },
      handle: async ({ params, body, json }) =>
        json(200, await snapshots.restore(params.id ?? '', body.snapshot, unhurried)),
    }),
    route({
      method: 'GET',
      path: '/snapshots',
      summary: 'all snapshots, the oldest first',
      answers: { 200: { description: 'them', body: Type.Object({ snapshots: Type.Array(snapshot) }) } },
      handle: ({ json }) => json(200, { snapshots: snapshots.list().map(told) }),
    }),
    route({
      method: 'GET',
      path: '/snapshots/:ref',
      summary: 'one snapshot, by id, name, or the beginning of an id',
      answers: { 200: one },
      handle: ({ params, json }) => json(200, told(snapshots.get(params.ref ?? ''))),
    }),
    route({
      method: 'DELETE',
      path: '/snapshots/:ref',
      summary: 'remove a snapshot',
      answers: {
        200: {
          description: 'it is gone',
          body: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }),
        },
      },
      async handle({ params, json }) {
        const { id } = await snapshots.remove(params.ref ?? '', unhurried);
        json(200, { id, deleted: true });
      },
    }),
  ];
}

/** Without what is for sandboxes made from it. */
function told({
  id,
  name,
  createdAt,
  sandbox,
  size,
  labels,
  driver,
}: Snapshot): Type.Static<typeof snapshot> {
  return {
    ...{ id, createdAt, labels, driver },
    ...(name === undefined ? {} : { name }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(size === undefined ? {} : { size }),
  };
}
