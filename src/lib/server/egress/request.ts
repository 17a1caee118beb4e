/** What a sandbox asks a provider for: whose token it brings, where to, and which model. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { hopHeaders } from '../http/hop-headers.ts';
import { GatewayRefusal } from './refusal.ts';

/** Headers that providers read a key from. */
const KEY_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key'] as const;
type KeyHeader = (typeof KEY_HEADERS)[number];

/** The token of a request, and the header that it came in. */
export interface Brought {
  readonly token: string | undefined;
  readonly header: KeyHeader;
}

/** From a header, or from `?key=`, which Google's older SDKs write. */
export function tokenOf({ headers }: IncomingMessage, query: URLSearchParams): Brought {
  const { authorization } = headers;
  if (authorization !== undefined && /^Bearer /i.test(authorization))
    return { token: authorization.slice('Bearer '.length).trim(), header: 'authorization' };
  for (const header of ['x-api-key', 'x-goog-api-key'] as const) {
    const token = headers[header];
    if (typeof token === 'string') return { token, header };
  }
  return { token: query.get('key') ?? undefined, header: 'x-goog-api-key' };
}

/** The headers for the provider: its key in the place of the token, nothing that is about this connection or another key. */
export function headersFor(
  headers: IncomingHttpHeaders,
  header: KeyHeader,
  key: string | undefined,
): Record<string, string | string[]> {
  const sent = endToEnd(headers);
  for (const each of [...KEY_HEADERS, 'host', 'content-length', 'cookie', 'accept-encoding'])
    delete sent[each];
  // What is compressed could not be looked into.
  sent['accept-encoding'] = 'identity';
  if (key !== undefined) sent[header] = header === 'authorization' ? `Bearer ${key}` : key;
  return sent;
}

/** Headers without those of the connection. */
export function endToEnd(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const hops = hopHeaders([headers.connection ?? '']);
  return Object.fromEntries(
    Object.entries(headers).filter(
      (each): each is [string, string | string[]] => each[1] !== undefined && !hops.has(each[0]),
    ),
  );
}

/** `/openai/v1/models?x` in its parts. */
export interface ProviderPath {
  readonly provider: string;
  /** Begins with a slash. */
  readonly rest: string;
  readonly query: URLSearchParams;
}

/** @throws GatewayRefusal 400, 404 */
export function providerPath(url: string): ProviderPath {
  if (!url.startsWith('/') || !URL.canParse(`http://gateway${url}`))
    throw new GatewayRefusal(400, 'bad_request', 'the path is not one');
  const { pathname, searchParams } = new URL(`http://gateway${url}`);
  const [, provider = '', rest = ''] = /^\/([^/]*)(\/.*)?$/.exec(pathname) ?? [];
  return { provider, rest: rest === '' ? '/' : rest, query: searchParams };
}

/** Where to at the provider. A path that repeats that of the base URL, such as `/v1`, means it once. */
export function targetUrl(baseUrl: URL, { rest, query }: ProviderPath): URL {
  const base = baseUrl.pathname.replace(/\/+$/, '');
  const url = new URL(baseUrl);
  url.pathname = base !== '' && (rest === base || rest.startsWith(`${base}/`)) ? rest : `${base}${rest}`;
  const sent = new URLSearchParams(query);
  sent.delete('key');
  url.search = sent.toString();
  return url;
}

/** All models that a request names, in its body and in its path, where Google has it. */
export function modelsOf(body: unknown, path: string): string[] {
  const { model, models } = (body ?? {}) as { readonly model?: unknown; readonly models?: unknown };
  const inPath = /\/models\/([^/:]+)/.exec(path)?.[1];
  // OpenRouter takes a list to fall back on.
  const named = [model, ...(Array.isArray(models) ? models : [])];
  return [
    ...named.filter((each) => typeof each === 'string').map((each) => each.replace(/^models\//, '')),
    ...(inPath === undefined ? [] : [decoded(inPath)]),
  ];
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new GatewayRefusal(400, 'bad_request', 'the path is not one');
  }
}
