/** Who may see an exposed port that has a token: who brings it in a header, in the query, or in the cookie that the query gave. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { sameSecret } from '../http/guard.ts';

/** What is let through: without whatever opened the door, which is no business of the program inside. */
export interface Access {
  /** Path and query. */
  readonly url: string;
  /** Names and values by turns. */
  readonly headers: readonly string[];
  /** A cookie for the next time. */
  readonly cookie?: string;
}

export const TOKEN_HEADER = 'x-preview-token';
const TOKEN_QUERY = 'token';
const COOKIE = 'sbx-preview';

/** @returns undefined for one who may not. */
export function accessTo(request: IncomingMessage, token: string | null): Access | undefined {
  const { url = '/', rawHeaders } = request;
  if (token === null) return { url, headers: rawHeaders };
  // Not the token itself: a cookie lies about in files.
  const pass = createHash('sha256').update(`${COOKIE} ${token}`).digest('hex');
  const headers = withoutSecrets(rawHeaders);
  const query = queryToken(url);
  if (query.token !== undefined && sameSecret(query.token, token))
    return { url: query.rest, headers, cookie: `${COOKIE}=${pass}; Path=/; HttpOnly; SameSite=Lax` };
  const inHeader = request.headers[TOKEN_HEADER];
  const inCookie = cookies(request.headers.cookie).find(([name]) => name === COOKIE)?.[1];
  const isKnown =
    (typeof inHeader === 'string' && sameSecret(inHeader, token)) ||
    (inCookie !== undefined && sameSecret(inCookie, pass));
  return isKnown ? { url, headers } : undefined;
}

/** The first `token=` of the query, and the URL without it; the rest stays as it was written. */
function queryToken(url: string): { readonly token?: string; readonly rest: string } {
  const [path = '', ...rest] = url.split('?');
  const parts = rest.join('?').split('&');
  const at = parts.findIndex((part) => part.startsWith(`${TOKEN_QUERY}=`));
  if (at < 0) return { rest: url };
  const token = new URLSearchParams(parts[at]).get(TOKEN_QUERY) ?? '';
  const others = parts.toSpliced(at, 1);
  return { token, rest: others.length === 0 ? path : `${path}?${others.join('&')}` };
}

function withoutSecrets(rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const lower = name.toLowerCase();
    if (lower === TOKEN_HEADER) continue;
    const rest = lower === 'cookie' ? withoutPass(value) : value;
    if (rest !== '' || lower !== 'cookie') kept.push(name, rest);
  }
  return kept;
}

function withoutPass(value: string): string {
  return cookies(value)
    .filter(([name]) => name !== COOKIE)
    .map(([name, content]) => (content === undefined ? name : `${name}=${content}`))
    .join('; ');
}

function cookies(header = ''): [name: string, value: string | undefined][] {
  return header
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .map((each) => {
      const at = each.indexOf('=');
      return at < 0 ? [each, undefined] : [each.slice(0, at), each.slice(at + 1)];
    });
}
