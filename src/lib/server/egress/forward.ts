/**
 * The proxy of sandboxes whose traffic must go through the gateway: `CONNECT host:port`, and requests for whole addresses. The
 * token is the user name of the proxy's credentials.
 */
import { type IncomingMessage, request as plainRequest, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { connectTcp } from '../../transport/connect.ts';
import { joinStreams } from '../../transport/join.ts';
import type { AllowedHosts } from './allowed-hosts.ts';
import type { Gate } from './gate.ts';
import { GatewayRefusal } from './refusal.ts';
import { endToEnd } from './request.ts';
import { counted } from './request-body.ts';
import { type LookUp, resolveTarget } from './target.ts';
import type { OwnedToken } from './tokens.ts';

export interface ForwardOptions {
  readonly gate: Gate;
  /** Undefined: the gateway is no proxy. */
  readonly allow: AllowedHosts | undefined;
  readonly lookUp?: LookUp | undefined;
}

export interface Forward {
  /** Whole addresses, such as `GET http://host/path`. @throws GatewayRefusal */
  request(request: IncomingMessage, response: ServerResponse, signal: AbortSignal): Promise<void>;
  /** Resolves when the connection is over. @throws GatewayRefusal before it was taken */
  connect(request: IncomingMessage, client: Duplex, head: Buffer, signal: AbortSignal): Promise<void>;
}

/** Milliseconds to connect. */
const CONNECT_MS = 20_000;
/** Bytes after which a connection that goes on is booked. */
const BOOK_BYTES = 1024 * 1024;

export function openForward({ gate, allow, lookUp }: ForwardOptions): Forward {
  const pass = async (request: IncomingMessage, host: string, port: number) => {
    if (allow === undefined) throw new GatewayRefusal(403, 'host_not_allowed', 'this gateway is no proxy');
    const owner = authenticated(request, gate);
    return { owner, address: await resolveTarget({ host, port }, allow, lookUp) };
  };
  return {
    async request(request, response, signal) {
      const url = new URL(request.url ?? '');
      if (url.protocol !== 'http:')
        throw new GatewayRefusal(400, 'bad_request', 'only http: can be asked for this way; use CONNECT');
      const host = bare(url.hostname);
      const port = Number(url.port || 80);
      const { owner, address } = await pass(request, host, port);
      const body = counted(request);
      const sending = plainRequest({
        host: address,
        port,
        method: request.method,
        path: `${url.pathname}${url.search}`,
        headers: { ...endToEnd(request.headers), host: url.host },
        agent: false,
        timeout: CONNECT_MS,
        signal,
      });
      try {
        const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
        sending.once('response', resolve);
        sending.on('error', reject);
        pipeline(body.stream, sending).catch(reject);
        const answer = await promise.catch((error: unknown) => {
          throw unreachable(host, error);
        });
        response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
        await pipeline(answer, response);
      } finally {
        gate.addBytes(owner.sandbox, body.size());
      }
    },
    async connect(request, client, head, signal) {
      const { host, port } = authority(request.url ?? '');
      const { owner, address } = await pass(request, host, port);
      const upstream = await connectTcp(
        { host: address, port },
        { signal: AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]) },
      ).catch((error: unknown) => {
        throw unreachable(host, error);
      });
      const stop = () => upstream.destroy();
      signal.addEventListener('abort', stop, { once: true });
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      const book = bookBytes(client, (bytes) => gate.addBytes(owner.sandbox, bytes), head.length);
      if (head.length > 0) upstream.write(head);
      await joinStreams(client, upstream);
      signal.removeEventListener('abort', stop);
      book();
    },
  };
}

/** @throws GatewayRefusal 407 */
function authenticated({ headers }: IncomingMessage, gate: Gate): OwnedToken {
  const [, encoded = ''] = /^Basic (.+)$/i.exec(headers['proxy-authorization'] ?? '') ?? [];
  const [user] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  try {
    return gate.check(user);
  } catch (error) {
    if (!(error instanceof GatewayRefusal)) throw error;
    throw new GatewayRefusal(407, 'proxy_authentication_required', error.message, {
      'Proxy-Authenticate': 'Basic realm="sbx egress"',
    });
  }
}

/** Books what comes out of `client` now and then. @returns books the rest. */
function bookBytes(client: Duplex, add: (bytes: number) => void, first: number): () => void {
  let open = first;
  const book = () => {
    add(open);
    open = 0;
  };
  client.on('data', (part: Buffer) => {
    open += part.length;
    if (open >= BOOK_BYTES) book();
  });
  return book;
}

/** `host:port` of a CONNECT. @throws GatewayRefusal 400 */
function authority(text: string): { readonly host: string; readonly port: number } {
  const [, host = '', digits = ''] = /^([^/@\s]+):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (host === '' || port < 1 || port > 65_535)
    throw new GatewayRefusal(400, 'bad_request', 'CONNECT needs a host and a port');
  return { host: bare(host), port };
}

const bare = (host: string) => host.replace(/^\[(.*)\]$/, '$1').toLowerCase();

function unreachable(host: string, error: unknown): GatewayRefusal {
  return new GatewayRefusal(502, 'unreachable', `${host} cannot be reached: ${(error as Error).message}`);
}
