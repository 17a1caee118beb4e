/**
 * HTTP over any connection: a Unix socket, TCP, TLS, or the two ends of a program such as ssh. Connections are kept
 * for the next request. Knows no API. Failures of the connection reject with the system's error.
 */
import type { Duplex, Readable } from 'node:stream';
import { type HttpHeaders, requestHead } from '../wire/http.ts';
import { exchange } from './http-exchange.ts';
import { idleConnections } from './http-idle.ts';

/** Opens one connection; called once for each that is needed. */
export type Connect = () => Duplex;

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query, encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as it is; a stream obeys back-pressure, and is destroyed when the answer makes the rest of it needless. */
  readonly body?: string | Readable | undefined;
  /** Makes the error of an answer's body that breaks. */
  readonly explain?: ((error: Error) => Promise<Error>) | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: HttpHeaders;
  /** In the pieces that came, not joined. Must be read or destroyed. Fails when the connection ends before it does. */
  readonly body: Readable;
}

/** What came of asking for the connection itself. */
export type HttpUpgrade =
  | { readonly upgraded: true; readonly connection: Duplex }
  | { readonly upgraded: false; readonly answer: HttpAnswer };

export interface HttpClient {
  /** Resolves with the head of the answer, whatever its status. An aborted signal rejects, and breaks the body. */
  request(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /** Asks for the raw connection (`Upgrade: tcp`), whose directions end apart. */
  upgrade(request: HttpRequest, signal: AbortSignal): Promise<HttpUpgrade>;
  /** Closes the connections that are idle. */
  close(): void;
}

/** A client whose requests go over connections made by `connect`. @param host the value of the Host header. */
export function httpClient(connect: Connect, host: string): HttpClient {
  const idle = idleConnections();
  const send = async (request: HttpRequest, upgrade: boolean, signal: AbortSignal): Promise<HttpUpgrade> => {
    signal.throwIfAborted();
    const head = headOf(request, host, upgrade);
    const options = { head, request, upgrade, signal, keep: idle.keep };
    const kept = idle.take();
    const first = exchange(kept ?? connect(), options);
    const isQuestion = request.method === 'GET' || request.method === 'HEAD';
    if (kept === undefined || !isQuestion || request.body !== undefined) return first.outcome;
    return first.outcome.catch((error: unknown) => {
      // One that was closed while it lay idle may be noticed only now; it is asked again, once.
      if (first.isAnswered() || signal.aborted) throw error;
      return exchange(connect(), options).outcome;
    });
  };
  return {
    async request(request, signal) {
      const outcome = await send(request, false, signal);
      if (outcome.upgraded) throw new Error('upgraded unasked');
      return outcome.answer;
    },
    upgrade: (request, signal) => send(request, true, signal),
    close: idle.close,
  };
}

function headOf({ method, path, headers, body }: HttpRequest, host: string, upgrade: boolean): string {
  const asks = upgrade ? { connection: 'Upgrade', upgrade: 'tcp' } : {};
  return requestHead(method, path, { host, ...framingOf(method, body), ...asks, ...headers });
}

/** The header that tells where the body ends. */
function framingOf(method: HttpRequest['method'], body: HttpRequest['body']): Record<string, string> {
  if (typeof body === 'string') return { 'content-length': String(Buffer.byteLength(body)) };
  if (body !== undefined) return { 'transfer-encoding': 'chunked' };
  return method === 'POST' || method === 'PUT' ? { 'content-length': '0' } : {};
}
