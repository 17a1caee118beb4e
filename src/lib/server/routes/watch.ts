/** Changes of files, as events. */
import type { FileEvent } from '../../backend/contract.ts';
import { need } from '../../backend/need.ts';
import { SbxError } from '../../errors.ts';
import type { Daemon } from '../daemon.ts';
import { HttpRefusal, reasonOf } from '../http/refusal.ts';
import { type Route, route } from '../http/route.ts';
import { LONGEST_MS } from '../shapes.ts';

const TYPES: Readonly<Record<FileEvent['kind'], string>> = {
  created: 'create',
  changed: 'modify',
  removed: 'delete',
};

/** Milliseconds between looks, where nothing else is asked for. */
const PAUSE_MS = 300;

export function watchRoutes({ fleet, having }: Daemon): Route[] {
  return [
    route({
      method: 'GET',
      path: '/sandboxes/:id/watch',
      summary:
        'changes below `?path=`, by default `/workspace`; `?interval=` is the milliseconds between looks where it takes looking',
      answers: {
        200: {
          description:
            'a comment once changes are told; `{type: "create" | "modify" | "delete", path}`; `{type: "error", error}` is the end',
          type: 'text/event-stream',
        },
      },
      async handle({ params, query, signal, events }) {
        const path = query.get('path') ?? '/workspace';
        if (path === '') throw new HttpRefusal(400, 'path is empty');
        const pauseMs = milliseconds(query.get('interval'));
        using use = await fleet.use(params.id ?? '', { signal });
        const { watch } = need(use.sandbox, 'files', having);
        if (watch === undefined) throw new SbxError('unsupported', 'files of this sandbox cannot be watched');
        const out = events();
        let greeting: Promise<void> | undefined;
        const greet = () => {
          greeting ??= out.comment('watching');
          return greeting;
        };
        try {
          const changes = watch(path, { recursive: true, pauseMs, onBegun: () => void greet() }, { signal });
          for await (const { kind, path } of changes) await out.send({ type: TYPES[kind], path });
          signal.throwIfAborted();
        } catch (error) {
          await greet();
          await out.send({ type: 'error', error: reasonOf(signal, error) });
        } finally {
          out.end();
        }
      },
    }),
  ];
}

function milliseconds(text: string | null): number {
  if (text === null) return PAUSE_MS;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= LONGEST_MS) return value;
  throw new HttpRefusal(400, `interval must be from 1 to ${LONGEST_MS} milliseconds`);
}
