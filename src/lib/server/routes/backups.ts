/** Backups of the workspace, and putting them back. */
import Type from 'typebox';
import type { Daemon } from '../daemon.ts';
import { HttpRefusal } from '../http/refusal.ts';
import { type Route, route } from '../http/route.ts';

const backup = Type.Object({
  backupId: Type.String(),
  sandboxId: Type.String(),
  createdAt: Type.String({ format: 'date-time' }),
  bytes: Type.Number(),
});
const list = { description: 'the oldest first', body: Type.Object({ backups: Type.Array(backup) }) };
const restoreBody = Type.Object({ backupId: Type.String({ refusal: 'backupId is required' }) });

export function backupRoutes({ fleet, backups, restores }: Daemon): Route[] {
  return [
    route({
      method: 'POST',
      path: '/sandboxes/:id/backups',
      summary: 'back /workspace up',
      answers: { 201: { description: 'the backup', body: backup } },
      async handle({ params, signal, json }) {
        using use = await fleet.use(params.id ?? '', { signal });
        json(201, await backups.make(use, { signal }));
      },
    }),
    route({
      method: 'GET',
      path: '/sandboxes/:id/backups',
      summary: 'backups that were made of this sandbox',
      answers: { 200: list },
      handle: ({ params, json }) => json(200, { backups: backups.list(fleet.get(params.id ?? '').id) }),
    }),
    route({
      method: 'POST',
      path: '/sandboxes/:id/restore',
      summary:
        'make /workspace what a backup holds, whole or not at all; the backup may be of another sandbox',
      body: restoreBody,
      answers: {
        200: {
          description: 'it is done',
          body: Type.Object({ id: Type.String(), restored: Type.String() }),
        },
      },
      async handle({ params, body: { backupId }, signal, json }) {
        if (backups.get(backupId) === undefined) throw new HttpRefusal(404, 'backup not found');
        using use = await fleet.use(params.id ?? '', { signal });
        await restores.restore(use, backupId, { signal });
        json(200, { id: use.record.id, restored: backupId });
      },
    }),
    route({
      method: 'GET',
      path: '/backups',
      summary: 'all backups, also of sandboxes that are gone',
      answers: { 200: list },
      handle: ({ json }) => json(200, { backups: backups.list() }),
    }),
    route({
      method: 'DELETE',
      path: '/backups/:backupId',
      summary: 'delete a backup',
      answers: {
        200: {
          description: 'it is gone',
          body: Type.Object({ backupId: Type.String(), deleted: Type.Literal(true) }),
        },
      },
      async handle({ params, json }) {
        const { backupId = '' } = params;
        if (!(await backups.remove(backupId))) throw new HttpRefusal(404, 'backup not found');
        json(200, { backupId, deleted: true });
      },
    }),
  ];
}
