/** Headers that are about a connection, not about what goes over it. */

/** RFC 9110, 7.6.1; and `expect`, which a server answers itself. */
const HOP_HEADERS = [
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Their names in small letters, with those that `connection` lists, the values of that header. */
export function hopHeaders(connection: readonly string[]): ReadonlySet<string> {
  const named = connection.flatMap((value) => value.split(',')).map((name) => name.trim().toLowerCase());
  return new Set([...HOP_HEADERS, ...named]);
}
