/** What background processes print, as events. */
import { StringDecoder } from 'node:string_decoder';
import type { LogChunk } from '../../backend/contract.ts';
import { need } from '../../backend/need.ts';
import type { Daemon } from '../daemon.ts';
import type { EventStream } from '../http/events.ts';
import { reasonOf } from '../http/refusal.ts';
import { type Route, route } from '../http/route.ts';
import { processRecords } from './process-records.ts';

export function logRoutes({ db, fleet, having }: Daemon): Route[] {
  const records = processRecords(db);
  return [
    route({
      method: 'GET',
      path: '/sandboxes/:id/processes/:procId/logs',
      summary: 'what a process has printed, and with `?follow` what it prints until it ends',
      answers: {
        200: {
          description:
            '`{type: "log", data}`; `{type: "error", error}` where it breaks off; last `{type: "end"}`',
          type: 'text/event-stream',
        },
      },
      async handle({ params, query, signal, events }) {
        const { id } = fleet.get(params.id ?? '');
        const { procId } = records.get(id, params.procId ?? '');
        const follow = query.has('follow') && query.get('follow') !== '0';
        const { sandbox, ...look } = await fleet.look(id, { signal });
        // To be watched is no use: the sandbox may fall asleep meanwhile.
        look[Symbol.dispose]();
        const log = need(sandbox, 'processes', having).logs(procId, { follow }, { signal });
        const out = events();
        try {
          await copy(log, out);
          signal.throwIfAborted();
        } catch (error) {
          await out.send({ type: 'error', error: reasonOf(signal, error) });
        } finally {
          await out.send({ type: 'end' });
          out.end();
        }
      },
    }),
  ];
}

async function copy(log: AsyncIterable<LogChunk>, out: EventStream): Promise<void> {
  // A character may come in two pieces.
  const decoder = new StringDecoder('utf8');
  const send = async (data: string) => {
    if (data !== '') await out.send({ type: 'log', data });
  };
  for await (const { data } of log) await send(decoder.write(Buffer.from(data)));
  await send(decoder.end());
}
