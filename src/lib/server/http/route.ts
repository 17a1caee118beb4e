/** What a route is: data that the router, the checks and the description at /openapi.json are made from. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Static, TObject, TSchema } from 'typebox';
import type { AssetType } from '../dashboard/assets.ts';
import type { EventStream } from './events.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An answer of a route: what it means, and what it holds. */
export interface Answer {
  readonly description: string;
  readonly body?: TSchema;
  /** Default: JSON. */
  readonly type?: AssetType | 'text/event-stream' | 'application/octet-stream' | 'application/x-ndjson';
}

/** One request and its answer. */
export interface Exchange<Body = unknown> {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The parts of the path that the route names. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Body;
  /** Aborted when the client is gone, and when the server stops; only then somebody hears of its reason. */
  readonly signal: AbortSignal;
  /** Answers with JSON. */
  json(status: number, value: unknown): void;
  /** Answers with a stream of events. */
  events(): EventStream;
}

interface RouteHead {
  readonly method: Method;
  /** With `:name` for a part, such as `/sandboxes/:id`. */
  readonly path: string;
  readonly summary: string;
  /** May be used without the API key: it tells nothing worth keeping. */
  readonly open?: true;
  /** What `?…` may hold, as text; what it does not name is ignored. */
  readonly query?: TObject;
  /** What a client hears where the sandbox of the path does not exist; default: `not found`. */
  readonly missing?: string;
  /** Statuses besides those that every route can answer with. */
  readonly answers: Readonly<Record<number, Answer>>;
}

/** A route as the router takes it. */
export interface Route extends RouteHead {
  /** What the JSON body must be; absent: the body is the handler's own matter. */
  readonly body?: TSchema;
  handle(exchange: Exchange<never>): Promise<void> | void;
}

/** A route whose handler gets a body of the type of its schema. */
export function route<Body extends TSchema>(
  definition: RouteHead & {
    readonly body: Body;
    handle(exchange: Exchange<Static<Body>>): Promise<void> | void;
  },
): Route;
export function route(
  definition: RouteHead & { handle(exchange: Exchange<undefined>): Promise<void> | void },
): Route;
export function route(definition: Route): Route {
  return definition;
}

/** A path that is asked for by an `Upgrade` of the connection. */
export interface UpgradeRoute {
  readonly path: string;
  readonly summary: string;
  /** Whether a browser's WebSocket may bring the API key as `?key=`, having no way to send a header. */
  readonly keyInQuery?: true;
  handle(upgrade: UpgradeExchange): Promise<void>;
}

/** A request for the connection itself. What is thrown before it was taken is answered as HTTP. */
export interface UpgradeExchange {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What came behind the request. */
  readonly head: Buffer;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
}
