/** A server of the hotcell API, and requests to it. */
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';

/** A server under test. */
export interface HotcellServer {
  /** Such as `http://127.0.0.1:4750`. */
  readonly url: string;
  /** Its API key; empty when it has none. */
  readonly key: string;
  close(): Promise<void>;
}

/** How a server is started; what is left out stays as the server has it. */
export interface Settings {
  /** The API key; empty for none. */
  readonly key?: string;
  /** The address it listens on; default loopback. */
  readonly host?: string;
  /** Names that the `Host` header may have besides those of loopback. */
  readonly allowedHosts?: readonly string[];
  readonly maxBodyBytes?: number;
  readonly defaultMemoryMb?: number;
  readonly defaultCpus?: number;
  readonly defaultPidsLimit?: number;
  readonly defaultSleepAfterMs?: number;
  /** What sandboxes may spend by default, in US dollars; 0 is any. */
  readonly egressSpendCapUsd?: number;
  /** Whether all traffic of sandboxes goes through the gateway. */
  readonly egressEnforce?: boolean;
  /** How much memory all sandboxes may ask for together. */
  readonly memoryBudgetMb?: number;
  /** Where it keeps its state; a server that is started with the folder of another goes on where that one ended. */
  readonly folder?: string;
}

/** One request; the key goes along unless `headers` are given. */
export interface Asked {
  readonly method: string;
  /** Path and query, as they go over the wire. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Anything but a string or bytes is sent as JSON. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends a request on a connection of its own. @returns the answer's head; its body has not been read */
export function open(server: HotcellServer, asked: Asked, signal?: AbortSignal): Promise<IncomingMessage> {
  const { method, path, headers = keyOf(server), body } = asked;
  const sent =
    body === undefined || typeof body === 'string' || body instanceof Uint8Array
      ? body
      : JSON.stringify(body);
  const { hostname, port } = new URL(server.url);
  const length = sent === undefined ? {} : { 'content-length': Buffer.byteLength(sent) };
  return new Promise((resolve, reject) => {
    const sending = request({
      method,
      path,
      host: hostname,
      port,
      agent: false,
      headers: { 'content-type': 'application/json', ...length, ...headers },
      ...(signal === undefined ? {} : { signal }),
    });
    sending.once('response', resolve);
    sending.once('error', reject);
    sending.end(sent);
  });
}

/** Sends a request and reads the whole answer. */
export async function send(server: HotcellServer, asked: Asked): Promise<Answer> {
  const response = await open(server, asked);
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}

/** The header that most requests of the suite carry the key in. */
export function keyOf({ key }: HotcellServer): Record<string, string> {
  return key === '' ? {} : { authorization: `Bearer ${key}` };
}

/** The value of an answer that must be JSON with this status. */
export function jsonOf({ status, headers, text: body }: Answer, wanted: number): unknown {
  expect(status, body).toBe(wanted);
  expect(headers['content-type']).toMatch(/^application\/json(; ?charset=utf-8)?$/i);
  return JSON.parse(body);
}
