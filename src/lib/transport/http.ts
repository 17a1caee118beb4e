/**
 * HTTP over any connection: a Unix socket, TCP, TLS, or the two ends of a program such as ssh. Connections are kept
 * for the next request. Knows no API. Failures of the connection reject with the system's error.
 */
import * as http from 'node:http';
import type { Duplex, Readable } from 'node:stream';

/** Opens one connection; called once for each that is needed. */
export type Connect = () => Duplex;

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE';
  /** Path and query, encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as it is; a stream obeys back-pressure. */
  readonly body?: string | Readable | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Must be read or destroyed. Fails when the connection ends before it does. */
  readonly body: Readable;
}

/** What came of asking for the connection itself. */
export type HttpUpgrade =
  | { readonly upgraded: true; readonly connection: Duplex }
  | { readonly upgraded: false; readonly answer: HttpAnswer };

export interface HttpClient {
  /** Resolves with the head of the answer, whatever its status. An aborted signal rejects, and breaks the body. */
  request(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
  /** The same for a large answer to a request without a body. @param explain makes the error of a body that breaks. */
  download(
    request: HttpRequest,
    signal: AbortSignal,
    explain: (error: unknown) => Promise<Error>,
  ): Promise<HttpAnswer>;
  /** Asks for the raw connection (`Upgrade: tcp`), whose directions end apart. */
  upgrade(request: HttpRequest, signal: AbortSignal): Promise<HttpUpgrade>;
  /** Closes the connections that are idle. */
  close(): void;
}

/** How long an idle connection is kept, in milliseconds: less than servers wait. */
const KEEP_MS = 4000;

/** A client whose requests go over connections made by `connect`. @param host the value of the Host header. */
export function httpClient(connect: Connect, host: string): HttpClient {
  const agent = new http.Agent({ keepAlive: true, timeout: KEEP_MS });
  agent.createConnection = () => connect();
  const start = (request: HttpRequest, own: boolean, signal: AbortSignal) =>
    http.request({
      ...{ method: request.method, path: request.path, agent, signal },
      headers: { host, ...(own ? { connection: 'Upgrade', upgrade: 'tcp' } : {}), ...headersOf(request) },
    });
  const send = (outgoing: http.ClientRequest, body: HttpRequest['body'], reject: (error: Error) => void) => {
    if (body === undefined || typeof body === 'string') {
      outgoing.end(body);
      return;
    }
    body.once('error', (error) => {
      outgoing.destroy(error);
      reject(error);
    });
    body.pipe(outgoing);
  };
  return {
    request: (request, signal) =>
      new Promise((resolve, reject) => {
        const outgoing = start(request, false, signal);
        outgoing.once('response', (answer) => resolve(answerOf(answer)));
        outgoing.on('error', reject);
        send(outgoing, request.body, reject);
      }),
    download: async (request, signal, explain) =>
      (await import('./http-download.ts')).download(connect, host, request, signal, explain),
    upgrade: (request, signal) =>
      new Promise((resolve, reject) => {
        const outgoing = start(request, true, signal);
        outgoing.once('response', (answer) => resolve({ upgraded: false, answer: answerOf(answer) }));
        outgoing.once('upgrade', (_answer, connection: Duplex, first: Buffer) => {
          connection.allowHalfOpen = true;
          if (first.length > 0) connection.unshift(first);
          resolve({ upgraded: true, connection });
        });
        outgoing.on('error', reject);
        send(outgoing, request.body, reject);
      }),
    close: () => agent.destroy(),
  };
}

function headersOf({ body, headers }: HttpRequest): Record<string, string> {
  return typeof body === 'string'
    ? { 'content-length': String(Buffer.byteLength(body)), ...headers }
    : { ...headers };
}

function answerOf(answer: http.IncomingMessage): HttpAnswer {
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: answer };
}
