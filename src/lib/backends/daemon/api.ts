/** Requests to a server of the hotcell API: addresses, the key, JSON, and its failures as ours. */
import { readFile } from 'node:fs/promises';
import { connect as connectTcp, isIP } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { WebSocket } from 'ws';
import type { Call } from '../../backend/contract.ts';
import { ERROR_TABLE, type ErrorCode, hasErrno, SbxError } from '../../errors.ts';
import { type HttpAnswer, type HttpClient, type HttpRequest, httpClient } from '../../transport/http.ts';

export interface ApiRequest {
  readonly method: HttpRequest['method'];
  /** Parts are encoded by {@link segment}. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: object | undefined;
  readonly stream?: Readable | undefined;
}

export interface Api {
  /** The configured name of the backend. */
  readonly backend: string;
  /** Where the server is, for messages. */
  readonly url: string;
  /** The head of an answer below 400. Its body must be read or destroyed. */
  send(request: ApiRequest, call: Call): Promise<HttpAnswer>;
  json<T>(request: ApiRequest, call: Call): Promise<T>;
  /** The connection itself, for `protocol`. */
  upgrade(path: string, protocol: string, call: Call): Promise<Duplex>;
  /** An open WebSocket, paused. */
  webSocket(path: string, call: Call): Promise<WebSocket>;
}

/** Most bytes of a JSON answer. */
const JSON_LIMIT = 64 * 1024 * 1024;
const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** A part of a path. @throws SbxError `not_found` for what would be a step in it: nothing has such a name. */
export function segment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new SbxError('not_found', `${JSON.stringify(text)} is no name`);
  return encodeURIComponent(text);
}

/** Connects to nothing yet. @throws SbxError `usage` for an address that is none. */
export function openApi(backend: string, settings: Readonly<Record<string, string>>): Api {
  const { url = '', token, ca } = settings;
  const base = URL.canParse(url) ? new URL(url) : undefined;
  if (base === undefined || !(base.protocol in PORTS)) {
    throw new SbxError('usage', `backend '${backend}': ${JSON.stringify(url)} is no http or https address`, {
      backend,
      hint: `sbx config set backends.${backend}.url https://…`,
    });
  }
  if (base.username !== '' || base.password !== '') {
    throw new SbxError(
      'usage',
      `backend '${backend}': its address holds a name or password, which are not sent`,
      {
        backend,
        hint: `name the variable with the API key: sbx config set backends.${backend}.token '{"env":"SBX_API_KEY"}'`,
      },
    );
  }
  const prefix = base.pathname.replace(/\/+$/, '');
  const key: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  let opened: Promise<HttpClient> | undefined;
  const client = () => {
    opened ??= connector(base, ca).then((connect) => httpClient(connect, base.host));
    return opened;
  };
  const attempt = async <T>(act: (http: HttpClient) => Promise<T>, call: Call): Promise<T> => {
    if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
    try {
      return await act(await client());
    } catch (error) {
      throw call.signal.aborted ? new SbxError('interrupted', 'interrupted') : unreachable(error);
    }
  };
  const unreachable = (cause: unknown) =>
    cause instanceof SbxError
      ? cause
      : new SbxError('unreachable', `cannot reach the server at ${base.origin}: ${reasonOf(cause)}`, {
          backend,
          hint: `see whether it runs: sbx backend check ${backend}`,
          cause,
        });
  const judged = async (answer: HttpAnswer): Promise<HttpAnswer> => {
    if (answer.status < 400) return answer;
    throw refused(answer.status, await text(answer.body).catch(() => ''), api, token !== undefined);
  };
  const api: Api = {
    backend,
    url: base.origin,
    async send({ method, path, body, stream }, call) {
      const type = stream === undefined ? 'application/json' : 'application/octet-stream';
      const content = stream ?? (body === undefined ? undefined : JSON.stringify(body));
      const headers = { ...key, ...(content === undefined ? {} : { 'content-type': type }) };
      const request = { method, path: `${prefix}${path}`, headers, body: content };
      return judged(await attempt((http) => http.request(request, call.signal), call));
    },
    async json<T>(request: ApiRequest, call: Call): Promise<T> {
      const { body } = await api.send(request, call);
      const answer = await attempt(() => text(body), call);
      try {
        return JSON.parse(answer) as T;
      } catch (cause) {
        throw new SbxError('failed', `what answers at ${base.origin} is no server of sandboxes`, {
          backend,
          cause,
        });
      }
    },
    async upgrade(path, protocol, call) {
      const request: HttpRequest = {
        method: 'GET',
        path: `${prefix}${path}`,
        headers: { ...key, upgrade: protocol },
      };
      const result = await attempt((http) => http.upgrade(request, call.signal), call);
      if (result.upgraded) return result.connection;
      await judged(result.answer);
      result.answer.body.destroy();
      throw new SbxError('failed', `the server at ${base.origin} kept the connection`, { backend });
    },
    async webSocket(path, call) {
      const { openWebSocket } = await import('./plain/web-socket.ts');
      const url = `ws://${base.host}${prefix}${path}`;
      const connect = await connector(base, ca);
      const opened = await attempt(() => openWebSocket({ url, headers: key, connect }, call.signal), call);
      if ('socket' in opened) return opened.socket;
      throw refused(opened.status, '', api, token !== undefined);
    },
  };
  return api;
}

/** What came is no TLS; OpenSSL says so in words for those who wrote it. */
const NOT_TLS = ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'] as const;

function reasonOf(cause: unknown): string {
  return hasErrno(cause, ...NOT_TLS) ? 'it speaks no TLS there' : (cause as Error).message;
}

async function connector(base: URL, ca: string | undefined): Promise<() => Duplex> {
  const host = base.hostname.replace(/^\[|\]$/g, '');
  const port = base.port === '' ? (PORTS[base.protocol] ?? 80) : Number(base.port);
  if (base.protocol === 'http:') return () => connectTcp({ host, port, allowHalfOpen: true, noDelay: true });
  const authority = ca === undefined ? {} : { ca: await readFile(ca) };
  const name = isIP(host) === 0 ? { servername: host } : {};
  return () => connectTls({ host, port, ...name, ...authority });
}

const CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'usage',
  401: 'auth',
  403: 'auth',
  404: 'not_found',
  409: 'conflict',
  501: 'unsupported',
  502: 'unreachable',
  503: 'unreachable',
  504: 'timeout',
};

/** The failure that an answer of the server stands for. What it says is the server's, and is shown as text only. */
function refused(
  status: number,
  body: string,
  { backend, url: origin }: Pick<Api, 'backend' | 'url'>,
  hasKey: boolean,
): SbxError {
  const { error, code, hint } = failure(body);
  if (status === 401) {
    return new SbxError('auth', `the server at ${origin} refuses the API key`, {
      backend,
      hint: hasKey
        ? `the variable that holds it has another one: sbx config get backends.${backend}.token`
        : `export it, and name the variable: sbx config set backends.${backend}.token '{"env":"SBX_API_KEY"}'`,
    });
  }
  return new SbxError(
    codeOf(code) ?? CODES[status] ?? 'failed',
    error ?? `the server at ${origin} answered with status ${status}`,
    { backend, hint },
  );
}

/** Most characters of a server's words. */
const SAID_LIMIT = 2000;

/** What a body or a last message says went wrong. */
export function failure(body: string): {
  readonly error?: string;
  readonly code?: string;
  readonly hint?: string;
} {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return {};
  }
  if (value === null || typeof value !== 'object') return {};
  const said = (name: string) => {
    const found = (value as Record<string, unknown>)[name];
    return typeof found === 'string' ? { [name]: found.slice(0, SAID_LIMIT) } : {};
  };
  return { ...said('error'), ...said('code'), ...said('hint') };
}

/** The failure that a server's last message stands for. */
export function toldFailure(message: object, backend: string): SbxError {
  const { error = 'the server gave no reason', code, hint } = failure(JSON.stringify(message));
  return new SbxError(codeOf(code) ?? 'failed', error, { backend, hint });
}

/** What a code of the server's is for us: not our bug, and when it is stopping nobody interrupted us. */
function codeOf(code: string | undefined): ErrorCode | undefined {
  if (code === undefined || code === 'bug' || !Object.hasOwn(ERROR_TABLE, code)) return undefined;
  return code === 'interrupted' ? 'unreachable' : (code as ErrorCode);
}

async function text(body: Readable): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > JSON_LIMIT) throw new Error(`an answer of more than ${JSON_LIMIT} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
