/** Sessions of the exec route: a working folder and an environment that go from command to command. No terminals. */
import Type from 'typebox';
import { randomHex } from '../../util/random-id.ts';
import type { Daemon } from '../daemon.ts';
import { HttpRefusal } from '../http/refusal.ts';
import { type Route, route } from '../http/route.ts';
import { environment, strings } from '../shapes.ts';
import type { Database } from '../store/database.ts';
import { type Items, items } from '../store/items.ts';

export interface ExecSession {
  readonly sessionId: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly createdAt: string;
}

export const execSessions = (db: Database): Items<ExecSession> => items<ExecSession>(db, 'session');

const session = Type.Object({
  sessionId: Type.String(),
  cwd: Type.String(),
  env: strings,
  createdAt: Type.String({ format: 'date-time' }),
});
const createSession = Type.Object({
  // It stands in paths.
  id: Type.Optional(Type.String({ pattern: '^(?:[A-Za-z0-9][A-Za-z0-9._-]{0,63})?$(?!\\n)' })),
  cwd: Type.Optional(Type.String()),
  env: Type.Optional(environment),
});
const changes = Type.Object({ env: Type.Optional(environment) });

export function execSessionRoutes({ fleet, db, now }: Daemon): Route[] {
  const sessions = execSessions(db);
  return [
    route({
      method: 'POST',
      path: '/sandboxes/:id/sessions',
      summary: 'make a session for exec',
      body: createSession,
      answers: { 201: { description: 'the session', body: session } },
      handle({ params, body, json }) {
        const { id } = fleet.get(params.id ?? '');
        const made: ExecSession = {
          sessionId: body.id || `s${randomHex(6)}`,
          cwd: body.cwd ?? '/workspace',
          env: body.env ?? {},
          createdAt: now().toISOString(),
        };
        if (!sessions.add(id, made.sessionId, made)) throw new HttpRefusal(409, 'session already exists');
        json(201, made);
      },
    }),
    route({
      method: 'GET',
      path: '/sandboxes/:id/sessions',
      summary: 'its sessions for exec',
      answers: { 200: { description: 'them', body: Type.Object({ sessions: Type.Array(session) }) } },
      handle({ params, json }) {
        json(200, { sessions: sessions.list(fleet.get(params.id ?? '').id) });
      },
    }),
    route({
      method: 'DELETE',
      path: '/sandboxes/:id/sessions/:sid',
      summary: 'forget a session',
      answers: { 200: { description: 'it is gone', body: Type.Object({ ok: Type.Literal(true) }) } },
      handle({ params, json }) {
        if (!sessions.remove(fleet.get(params.id ?? '').id, params.sid ?? ''))
          throw new HttpRefusal(404, 'session not found');
        json(200, { ok: true });
      },
    }),
    route({
      method: 'POST',
      path: '/sandboxes/:id/sessions/:sid/env',
      summary: "add to a session's environment",
      body: changes,
      answers: { 200: { description: 'the session', body: session } },
      handle({ params, body, json }) {
        const { id } = fleet.get(params.id ?? '');
        const found = sessions.get(id, params.sid ?? '');
        if (found === undefined) throw new HttpRefusal(404, 'session not found');
        const changed = { ...found, env: { ...found.env, ...body.env } };
        sessions.put(id, found.sessionId, changed);
        json(200, changed);
      },
    }),
  ];
}
