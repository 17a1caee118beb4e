/** Server-sent events as they come, down to the byte. */
import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { expect } from 'vitest';
import { type Asked, type HotcellServer, open } from './server.ts';

/** What the server says in one `data:` line. */
export interface Event {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface EventStream {
  /** All that came so far. */
  raw(): string;
  events(): Event[];
  /** Resolves when the events so far hold what is wanted; rejects when the stream ends without it. */
  until(holds: (events: Event[]) => boolean): Promise<void>;
  /** Resolves when the first bytes are there. */
  begun(): Promise<void>;
  /** Waits for the end. @returns all events */
  end(): Promise<Event[]>;
  /** Leaves before the end. */
  close(): void;
}

/** Asks for a stream, which must be granted. */
export async function openStream(server: HotcellServer, asked: Asked): Promise<EventStream> {
  const leaving = new AbortController();
  const response = await open(server, asked, leaving.signal);
  expect(response.statusCode).toBe(200);
  expect(response.headers['content-type']).toMatch(/^text\/event-stream(; ?charset=utf-8)?$/i);
  expect(response.headers['cache-control']).toBe('no-cache');
  return follow(response, () => leaving.abort());
}

function follow(response: IncomingMessage, close: () => void): EventStream {
  const decoder = new StringDecoder();
  const waiting = new Set<() => void>();
  let raw = '';
  let ended = false;
  let failure: Error | undefined;
  const tell = () => {
    for (const look of [...waiting]) look();
  };
  response.on('data', (chunk: Buffer) => {
    raw += decoder.write(chunk);
    tell();
  });
  response.on('error', (error) => {
    failure = error;
  });
  response.on('close', () => {
    ended = true;
    tell();
  });
  const when = (holds: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (holds()) resolve();
        else if (ended)
          reject(failure ?? new Error(`the stream ended without what was waited for: ${raw.slice(-500)}`));
        else return;
        waiting.delete(look);
      };
      waiting.add(look);
      look();
    });
  return {
    raw: () => raw,
    events: () => eventsOf(raw),
    until: (holds) => when(() => holds(eventsOf(raw))),
    begun: () => when(() => raw !== ''),
    async end() {
      await when(() => ended);
      if (failure !== undefined) throw failure;
      expect(raw.endsWith('\n\n'), 'the last event is whole').toBe(true);
      return eventsOf(raw);
    },
    close,
  };
}

/** The events of all whole blocks: each is a comment, or one `data:` line with an object. */
export function eventsOf(raw: string): Event[] {
  return raw
    .split('\n\n')
    .slice(0, -1)
    .filter((block) => !/^:.*$/.test(block))
    .map((block) => {
      const json = /^data: (\{.*\})$/.exec(block)?.[1];
      if (json === undefined) throw new Error(`no event: ${JSON.stringify(block.slice(0, 200))}`);
      return JSON.parse(json) as Event;
    });
}
