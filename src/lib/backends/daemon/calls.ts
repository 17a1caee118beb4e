/** The contract's operations by name, at a server of ours. docs/protocol.md, "Calls" and "Lists". */
import type { Readable } from 'node:stream';
import type { Call } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { type Api, segment, toldFailure } from './api.ts';

/** The operations of one sandbox. */
export interface Calls {
  /** An operation with one answer. */
  value<T>(name: string, args: object, call: Call): Promise<T>;
  /** An operation with many; each is `T` if the server is what it says. */
  list<T>(name: string, args: object, call: Call): AsyncIterable<T>;
  /** Bytes from `/sandboxes/ID/PATH`. */
  download(path: string, query: Query, call: Call): Promise<Readable>;
  /** Bytes to it. Resolves when all is written. */
  upload(path: string, query: Query, content: Readable, call: Call): Promise<void>;
}

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Longest line of a list. */
const LINE_LIMIT = 16 * 1024 * 1024;

export function callsOf(api: Api, id: string): Calls {
  const at = `/sandboxes/${segment(id)}`;
  return {
    async value<T>(name: string, args: object, call: Call): Promise<T> {
      const request = { method: 'POST', path: `${at}/calls/${segment(name)}`, body: args } as const;
      return (await api.json<{ readonly value: T }>(request, call)).value;
    },
    async *list<T>(name: string, args: object, call: Call): AsyncIterable<T> {
      const request = { method: 'POST', path: `${at}/lists/${segment(name)}`, body: args } as const;
      const { body } = await api.send(request, call);
      try {
        for await (const line of linesOf(body)) {
          const message = JSON.parse(line) as {
            readonly item?: T;
            readonly end?: true;
            readonly error?: string;
          };
          if (message.end === true) return;
          if (message.error !== undefined) throw toldFailure(message, api.backend);
          yield message.item as T;
        }
      } catch (error) {
        if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
        if (error instanceof SbxError) throw error;
        throw cut(api, error);
      } finally {
        body.destroy();
      }
      throw cut(api, undefined);
    },
    async download(path, query, call) {
      return (await api.send({ method: 'GET', path: `${at}/${path}${queryOf(query)}` }, call)).body;
    },
    async upload(path, query, content, call) {
      const request = { method: 'PUT', path: `${at}/${path}${queryOf(query)}`, stream: content } as const;
      (await api.send(request, call)).body.resume();
    },
  };
}

function cut({ backend, url }: Api, cause: unknown): SbxError {
  return new SbxError('unreachable', `the answer of ${url} was cut short`, { backend, cause });
}

function queryOf(query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of value === undefined ? [] : [value].flat()) search.append(name, each);
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

async function* linesOf(body: Readable): AsyncIterable<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of body as AsyncIterable<Buffer>) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      yield rest.toString('utf8', 0, at);
      rest = rest.subarray(at + 1);
    }
    if (rest.length > LINE_LIMIT) throw new Error(`a line of more than ${LINE_LIMIT} bytes`);
  }
}
