/** The listener that sandboxes reach the world through: providers under their names, and a proxy where traffic is enforced. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Handled } from '../http/dispatch.ts';
import { HttpRefusal } from '../http/refusal.ts';
import type { Forward } from './forward.ts';
import { GatewayRefusal, refusalBody, refusalOf, sendRefusal } from './refusal.ts';
import type { Swap } from './swap.ts';

export interface GatewayOptions {
  readonly swap: Swap;
  readonly forward: Forward;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  readonly onHandled: (handled: Handled) => void;
}

export interface Gateway {
  readonly server: Server;
  /** Takes a connection that was made elsewhere, such as inside a sandbox. */
  take(connection: Duplex): void;
  /** Resolves when nothing is under way any more, and all of it is booked. */
  idle(): Promise<void>;
}

const HEAD_LIMIT = 64 * 1024;
const HEAD_MS = 10_000;

export function createGateway({ swap, forward, stopping, onHandled }: GatewayOptions): Gateway {
  /** Says in the log what became of a request: neither its path nor its host, which may tell more than they should. */
  const logged = (request: IncomingMessage, route: string) => {
    const startedAt = Date.now();
    const started = performance.now();
    return (status: number, bug?: unknown) =>
      onHandled({
        method: request.method ?? '',
        route,
        target: route,
        status,
        startedAt,
        ms: Math.round(performance.now() - started),
        ...(bug === undefined ? {} : { bug }),
      });
  };
  const underWay = new Set<Promise<void>>();
  const follow = (work: Promise<void>) => {
    underWay.add(work);
    void work.finally(() => underWay.delete(work));
  };
  const server = createServer({
    maxHeaderSize: HEAD_LIMIT,
    headersTimeout: HEAD_MS,
    // An answer of a model takes as long as it takes.
    requestTimeout: 0,
  });
  server.on('request', (request, response) => {
    const isWhole = /^[a-z][a-z0-9+.-]*:\/\//i.test(request.url ?? '') && URL.canParse(request.url ?? '');
    const done = logged(request, isWhole ? 'egress proxy' : 'egress provider');
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const answer = isWhole ? forward.request : swap;
    const answered = answer(request, response, AbortSignal.any([gone.signal, stopping])).then(
      () => done(response.statusCode),
      (error: unknown) => {
        const refusal = knownRefusal(error);
        // Half an answer: one of both sides has left, and the other one must see that.
        const isCut = response.headersSent || gone.signal.aborted;
        if (isCut) response.destroy();
        else sendRefusal(response, refusal);
        done(response.statusCode, !isCut && refusal.status === 500 ? error : undefined);
      },
    );
    follow(answered);
  });
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    const done = logged(request, 'egress connect');
    // Not everybody who takes it is there yet.
    client.on('error', () => client.destroy());
    const over = forward.connect(request, client, head, stopping).then(
      () => done(200),
      (error: unknown) => {
        const refusal = knownRefusal(error);
        done(refusal.status, refusal.status === 500 ? error : undefined);
        refuseConnection(client, refusal);
      },
    );
    follow(over);
  });
  server.on('upgrade', (_request, client: Duplex) => {
    client.on('error', () => client.destroy());
    refuseConnection(
      client,
      new GatewayRefusal(501, 'bad_request', 'the egress gateway passes on requests, no WebSockets'),
    );
  });
  return {
    server,
    take: (connection) => void server.emit('connection', connection),
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

function knownRefusal(error: unknown): GatewayRefusal {
  if (!(error instanceof HttpRefusal)) return refusalOf(error);
  const type = error.status === 413 ? 'request_too_large' : 'bad_request';
  return new GatewayRefusal(error.status, type, error.message, error.headers);
}

function refuseConnection(client: Duplex, refusal: GatewayRefusal): void {
  if (!client.writable) return;
  const text = refusalBody(refusal);
  const lines = Object.entries({
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(text)),
    Connection: 'close',
    ...refusal.headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  client.end(`HTTP/1.1 ${refusal.status} ${refusal.type}\r\n${lines.join('')}\r\n${text}`);
}
