/** Who may talk to the server: the API key, and the names that it may be called by. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isLoopback, type ServeSettings } from '../settings.ts';
import { HttpRefusal } from './refusal.ts';

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Whether two secrets are the same, in a time that tells nothing of where they differ. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

/** The key that a request brings: `Authorization: Bearer`, else `X-API-Key`. */
function keyOf({ headers }: IncomingMessage): string | undefined {
  const { authorization, 'x-api-key': other } = headers;
  if (authorization?.startsWith('Bearer ')) return authorization.slice('Bearer '.length);
  return typeof other === 'string' ? other : undefined;
}

/** @param inQuery the value of `?key=`, where a route takes it. @throws HttpRefusal 401 */
export function checkKey(
  request: IncomingMessage,
  { apiKey }: Pick<ServeSettings, 'apiKey'>,
  inQuery?: string | null,
): void {
  if (apiKey === undefined) return;
  const given = inQuery ?? keyOf(request);
  if (given === undefined || !sameSecret(given, apiKey))
    throw new HttpRefusal(401, 'missing or invalid API key', { 'WWW-Authenticate': 'Bearer' });
}

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '::1'];

/**
 * A server on loopback is called by loopback's names alone: a page whose name leads to 127.0.0.1 (DNS rebinding) could
 * have a browser drive it otherwise. One that listens to others has a key for that. @throws HttpRefusal 403; 400 for what is no host
 */
export function checkHost(
  { headers }: IncomingMessage,
  { listen, allowedHosts }: Pick<ServeSettings, 'listen' | 'allowedHosts'>,
): void {
  const { host = '' } = headers;
  if (!URL.canParse(`http://${host}`)) throw new HttpRefusal(400, 'the Host header is no host');
  const known = [...LOOPBACK_NAMES, listen.host, ...allowedHosts].map((each) => each.toLowerCase());
  if (isLoopback(listen.host) && !known.includes(hostName(host)))
    throw new HttpRefusal(403, 'host not allowed');
}

/** A browser says which page opens a WebSocket; only our own pages may. @throws HttpRefusal 403 */
export function checkOrigin(
  { headers }: IncomingMessage,
  { allowedHosts }: Pick<ServeSettings, 'allowedHosts'>,
): void {
  const { origin, host } = headers;
  if (origin === undefined) return;
  const from = URL.canParse(origin) ? new URL(origin) : undefined;
  if (from !== undefined && (from.host === host || allowedHosts.includes(from.hostname))) return;
  throw new HttpRefusal(403, 'origin not allowed');
}

/** The name in a Host header, without port and brackets. */
function hostName(host: string): string {
  return host
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
    .toLowerCase();
}
