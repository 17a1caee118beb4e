/** From a request to its route: guards first, then the path, then the body. Whatever is thrown becomes an answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import findMyWay from 'find-my-way';
import type { ServeSettings } from '../settings.ts';
import { checker, parseJson, readBody } from './body.ts';
import { eventStream } from './events.ts';
import { checkHost, checkKey, checkOrigin } from './guard.ts';
import { failureOf, HttpRefusal, noRoute } from './refusal.ts';
import type { Exchange, Route, UpgradeRoute } from './route.ts';

/** What is known of a request when it is over. */
export interface Handled {
  readonly method: string;
  /** The route's path, so that ids do not stand in logs; `-` for none. */
  readonly route: string;
  /** The path that was asked for, without its query and without tokens; `-` where there is no route. */
  readonly target: string;
  /** The sandbox of a connection that was handed over, once that is closed. */
  readonly connected?: string;
  readonly status: number;
  readonly startedAt: number;
  readonly ms: number;
  /** What nobody expected. */
  readonly bug?: unknown;
}

export interface DispatchOptions {
  readonly settings: ServeSettings;
  readonly routes: readonly Route[];
  readonly upgrades: readonly UpgradeRoute[];
  /** Whether there is a sandbox of this id or name. */
  readonly isKnown: (ref: string) => boolean;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
  readonly onHandled: (handled: Handled) => void;
}

export interface Dispatch {
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** What the paths of a sandbox's own routes begin with. */
const OF_SANDBOX = '/sandboxes/:id';
/** What is logged where the client left before an answer; nobody is sent it. */
const CLIENT_LEFT = 499;
/** Milliseconds that a body may still come when its request has been answered. */
const LINGER_MS = 5000;
/** Longest part of a path: ids are far shorter. */
const PARAM_LIMIT = 512;

export function dispatcher(options: DispatchOptions): Dispatch {
  const { settings, stopping, isKnown, onHandled } = options;
  const router = findMyWay<findMyWay.HTTPVersion.V1>({ maxParamLength: PARAM_LIMIT });
  for (const each of options.routes) {
    const check = each.body === undefined ? undefined : checker(each.body);
    const checkQuery = each.query === undefined ? undefined : checker(each.query);
    router.on(each.method, each.path, () => undefined, { route: each, check, checkQuery });
  }
  const upgrades = findMyWay<findMyWay.HTTPVersion.V1>({ maxParamLength: PARAM_LIMIT });
  for (const each of options.upgrades) upgrades.on('GET', each.path, () => undefined, each);

  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
    done: (found: Pick<Handled, 'route' | 'target'>) => void,
  ) => {
    const { path, query } = target(request);
    checkHost(request, settings);
    const found = router.find(request.method as findMyWay.HTTPMethod, path);
    const { route, check, checkQuery } = (found?.store ?? {}) as Partial<Found>;
    const params = (found?.params ?? {}) as Record<string, string>;
    if (route !== undefined) done({ route: route.path, target: targetOf(route, params) });
    if (route?.open !== true) checkKey(request, settings);
    // What stands for an id is never empty.
    if (route === undefined || Object.values(params).includes('')) throw noRoute(request);
    if (route.path.startsWith(OF_SANDBOX) && !isKnown(params.id ?? ''))
      throw new HttpRefusal(404, route.missing ?? 'not found');
    checkQuery?.(Object.fromEntries(query), 'the query');
    let body: unknown;
    if (check !== undefined) {
      body = parseJson(await readBody(request, settings.bodyLimit));
      check(body, 'the body');
    }
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const exchange: Exchange = {
      request,
      response,
      params,
      query,
      body,
      signal: AbortSignal.any([gone.signal, stopping]),
      json: (status, value) => sendJson(response, status, value),
      events: () => eventStream(response),
    };
    await route.handle(exchange as Exchange<never>);
  };

  return {
    request(request, response) {
      const startedAt = Date.now();
      const started = performance.now();
      let found = NO_ROUTE;
      let bug: unknown;
      response.once('close', () =>
        onHandled({
          method: request.method ?? '',
          ...found,
          status: response.headersSent ? response.statusCode : CLIENT_LEFT,
          startedAt,
          ms: Math.round(performance.now() - started),
          ...(bug === undefined ? {} : { bug }),
        }),
      );
      response.once('finish', () => endSoon(request));
      answer(request, response, (its) => {
        found = its;
      }).catch((error: unknown) => {
        const { status, headers, body } = failureOf(error);
        if (status === 500) bug = error;
        if (response.headersSent) response.destroy();
        else sendJson(response, status, body, headers);
      });
    },
    upgrade(request, socket, head) {
      const startedAt = Date.now();
      const started = performance.now();
      let handled = { ...NO_ROUTE, status: 101 };
      let connected = {};
      let bug: unknown;
      socket.once('close', () =>
        onHandled({
          method: request.headers.upgrade?.toLowerCase() === 'websocket' ? 'WS' : 'UPGRADE',
          ...handled,
          ...connected,
          startedAt,
          ms: Math.round(performance.now() - started),
          ...(bug === undefined ? {} : { bug }),
        }),
      );
      // Not everybody who takes it is there yet.
      socket.on('error', () => socket.destroy());
      const take = async () => {
        const { path, query } = target(request);
        checkHost(request, settings);
        const found = upgrades.find('GET', path);
        const route = found?.store as UpgradeRoute | undefined;
        const params = (found?.params ?? {}) as Record<string, string>;
        if (route !== undefined) handled = { ...handled, route: route.path, target: targetOf(route, params) };
        checkOrigin(request, settings);
        checkKey(request, settings, route?.keyInQuery === true ? query.get('key') : undefined);
        if (found === null || route === undefined) throw noRoute(request);
        connected = params.id === undefined ? {} : { connected: params.id };
        await route.handle({ request, socket, head, params, query, signal: stopping });
      };
      take().catch((error: unknown) => {
        const { status } = failureOf(error);
        handled = { ...handled, status };
        if (status === 500) bug = error;
        refuseUpgrade(socket, error);
      });
    },
  };
}

/** A body that nobody asked for must not keep the connection for ever; one that ends soon lets it be used again. */
function endSoon(request: IncomingMessage): void {
  if (request.complete) return;
  const timer = setTimeout(() => request.destroy(), LINGER_MS);
  request.once('close', () => clearTimeout(timer));
}

/** A route with what its values are checked by. */
interface Found {
  readonly route: Route;
  readonly check: ReturnType<typeof checker> | undefined;
  readonly checkQuery: ReturnType<typeof checker> | undefined;
}

const NO_ROUTE: Pick<Handled, 'route' | 'target'> = { route: '-', target: '-' };

/** The path of a request as it may be told: whoever reads it must not be able to spend a token. */
function targetOf({ path }: Pick<Route, 'path'>, params: Readonly<Record<string, string>>): string {
  return path.replace(/:(\w+)/g, (_, name: string) =>
    name === 'token' ? ':sub' : encodeURIComponent(params[name] ?? ''),
  );
}

function target(request: IncomingMessage): { readonly path: string; readonly query: URLSearchParams } {
  const { url = '/' } = request;
  // Only its path and query count; what is before them may be anything.
  if (!url.startsWith('/') || !URL.canParse(`http://server${url}`))
    throw new HttpRefusal(400, 'the path is not one');
  const { pathname, searchParams } = new URL(`http://server${url}`);
  return { path: pathname, query: searchParams };
}

function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(value);
  response.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
  response.end(text);
}

function refuseUpgrade(socket: Duplex, error: unknown): void {
  if (!socket.writable) return;
  const { status, headers, body } = failureOf(error);
  const text = JSON.stringify(body);
  const lines = Object.entries({
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(text)),
    Connection: 'close',
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_TEXT[status] ?? 'Error'}\r\n${lines.join('')}\r\n${text}`);
}

const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
};
