/** Odd requests to a server, made from the description of its routes, as the bytes that go over the wire. */
import type { Chance } from './chance.ts';
import { oddArgs, oddUpgrade } from './upgrades.ts';
import { bodyOf, ODD_TEXT, type Schema } from './values.ts';

/** A route as the description has it. */
export interface DescribedRoute {
  readonly method: string;
  /** With `{name}` for its parts. */
  readonly path: string;
  readonly body: Schema | undefined;
  /** Whether it hands the connection over. */
  readonly upgrades: boolean;
}

export interface OddRequest {
  readonly bytes: Buffer;
  /** Whether it was cut off, so that no answer need come. */
  readonly cut: boolean;
}

/** What requests are about. */
export interface Aims {
  readonly key: string;
  /** What may stand for each `{name}` of a path, besides odd text. */
  readonly names: Readonly<Record<string, readonly string[]>>;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
  readonly responses: Readonly<Record<string, unknown>>;
}

/** The routes of an OpenAPI document. */
export function routesIn(document: unknown): DescribedRoute[] {
  return Object.entries((document as Description).paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { requestBody, responses }]) => ({
      method: method.toUpperCase(),
      path,
      body: requestBody?.content['application/json'].schema,
      upgrades: '101' in responses,
    })),
  );
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'get', 'X'];
const QUERIES = [
  ...['path', 'interval', 'live', 'limit', 'follow', 'cols', 'rows', 'session', 'args'],
  ...['mode', 'parents', 'contents', 'exclude', 'owner', 'key', '__proto__'],
];
const HEADERS = [
  ...['Content-Type: text/plain', 'Expect: 100-continue', 'Expect: much', 'Range: bytes=5-', 'Cookie: ='],
  ...['If-None-Match: *', 'Origin: null', 'Origin: https://elsewhere.example', 'Accept: ,;q=', 'X-API-Key: '],
  ...['Content-Length: -1', 'Content-Length: 99999999999999', 'Transfer-Encoding: chunked, gzip', 'Te: x'],
  ...['Host: elsewhere.example', 'Host: [', 'Bad Name: x', ': x', `X-Long: ${'y'.repeat(17_000)}`],
];

/** One request, which may be right. */
export function oddRequest(routes: readonly DescribedRoute[], aims: Aims, chance: Chance): OddRequest {
  const drawn = chance.pick(routes);
  // Without its sandbox all that follows is 404.
  const route = isRemoval(drawn) && chance.is(0.9) ? chance.pick(routes) : drawn;
  if (chance.is(route.upgrades ? 0.9 : 0.02)) {
    const query = chance.is(0.5) ? oddArgs(chance) : queryOf(chance);
    const head = [
      `GET ${pathOf(route.path, aims, chance)}${query} HTTP/1.1`,
      'Host: localhost',
      ...authorization(aims.key, chance),
    ];
    return { bytes: oddUpgrade(head, chance), cut: false };
  }
  const method = chance.is(0.9) ? route.method : chance.pick(METHODS);
  const body =
    method === 'GET' && chance.is(0.9) ? Buffer.alloc(0) : bodyOf(route.body ?? { type: 'object' }, chance);
  const cut = body.length > 0 && chance.is(0.05);
  const head = [
    `${method} ${pathOf(route.path, aims, chance)}${queryOf(chance)} HTTP/1.${chance.is(0.98) ? 1 : 0}`,
    ...(chance.is(0.98) ? ['Host: localhost'] : []),
    ...authorization(aims.key, chance),
    ...(chance.is(0.15) ? [chance.pick(HEADERS)] : []),
    ...(body.length > 0 ? [`Content-Length: ${body.length}`] : []),
  ];
  const sent = cut ? body.subarray(0, Math.floor(body.length / 2)) : body;
  return { bytes: Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), sent]), cut };
}

function isRemoval({ method, path }: DescribedRoute): boolean {
  return method === 'DELETE' && path === '/sandboxes/{id}';
}

function pathOf(template: string, { names }: Aims, chance: Chance): string {
  if (chance.is(0.03))
    return chance.pick(['*', '', '/%', '//', '/a b', 'http://elsewhere.example/', '/\xff', '/..']);
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const known = names[name] ?? [];
    if (known.length > 0 && chance.is(0.75)) return encodeURIComponent(chance.pick(known));
    const odd = chance.pick(ODD_TEXT).toWellFormed();
    return chance.is(0.8) ? encodeURIComponent(odd) : odd.replaceAll(/[\s\0]/g, '');
  });
}

function queryOf(chance: Chance): string {
  if (chance.is(0.6)) return '';
  const parts = Array.from({ length: 1 + chance.below(2) }, () => {
    const value = chance.pick(ODD_TEXT).toWellFormed();
    return `${chance.pick(QUERIES)}=${encodeURIComponent(value)}`;
  });
  return `?${parts.join('&')}`;
}

function authorization(key: string, chance: Chance): string[] {
  if (chance.is(0.9)) return [`Authorization: Bearer ${key}`];
  return chance.pick([
    [],
    ['Authorization: Bearer '],
    [`X-API-Key: ${key}`],
    [`Authorization: Basic ${key}`],
    ['Authorization: Bearer \x80'],
  ]);
}
