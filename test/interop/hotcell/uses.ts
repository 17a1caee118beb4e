/** One way to use a sandbox a route: what all of them do to a paused or stopped one is tested by these. */
import type { Target } from './api.ts';
import type { Harness } from './harness.ts';
import { routes } from './routes.ts';
import { openTerminal, refusedTerminal } from './terminal-socket.ts';

/** What the uses need: a sandbox, and a backup of it. */
export interface Place {
  readonly id: string;
  readonly backupId: string;
}

export interface Use {
  readonly route: string;
  /** Uses a sandbox that can be used. */
  works(h: Harness, place: Place): Promise<unknown>;
  /** Uses one that cannot. @returns the status and the error; a terminal has none */
  fails(h: Harness, place: Place): Promise<readonly [status: unknown, error?: string]>;
}

const bodies: Readonly<Record<string, (place: Place) => unknown>> = {
  exec: () => ({ command: 'true' }),
  'files/write': () => ({ path: '/workspace/file', content: 'x' }),
  'files/read': () => ({ path: '/workspace/file' }),
  'files/mkdir': () => ({ path: '/workspace/folder', parents: true }),
  'files/list': () => ({ path: '/workspace' }),
  watch: () => undefined,
  processes: () => ({ command: 'true' }),
  'wait-port': () => ({ port: 1, timeoutMs: 1 }),
  expose: () => ({ port: 8080 }),
  backups: () => undefined,
  restore: ({ backupId }) => ({ backupId }),
  'code-contexts': () => ({ language: 'python' }),
  'run-code': () => ({ code: '1' }),
};

/** A use of each route that works in a sandbox. */
export const uses: readonly Use[] = routes.filter(({ live }) => live).map(useOf);

function useOf({ method, path, socket }: (typeof routes)[number]): Use {
  const route = `${method} ${path}`;
  if (socket)
    return {
      route,
      works: async (h, { id }) => (await openTerminal(h.server(), id)).close(),
      fails: async (h, { id }) => [await refusedTerminal(h.server(), id)],
    };
  const rest = path.replace('/sandboxes/:id/', '');
  const body = bodies[rest];
  if (body === undefined) throw new Error(`no use is known for ${route}`);
  const target = ({ id }: Place): Target => `${method} /sandboxes/${id}/${rest}`;
  return {
    route,
    async works(h, place) {
      if (rest === 'watch') {
        const events = await h.stream(target(place));
        await events.begun();
        events.close();
        return;
      }
      const { status, text } = await h.ask(target(place), { body: body(place) });
      if (status !== 200 && status !== 201) throw new Error(`${route}: ${status} ${text}`);
      if (rest === 'code-contexts') {
        const { contextId } = JSON.parse(text) as { contextId: string };
        await h.answer(200, `DELETE /sandboxes/${place.id}/code-contexts/${contextId}`);
      }
    },
    async fails(h, place) {
      const { status, text } = await h.ask(target(place), { body: body(place) });
      return [status, (JSON.parse(text) as { error: string }).error];
    },
  };
}
