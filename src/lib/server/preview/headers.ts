/** Headers on their way through a proxy. Lists hold names and values by turns, as they came: order, letters and repetitions stay. */
import type { IncomingMessage } from 'node:http';

/** What is said from one end of a connection to the other, and not to whoever is behind it. RFC 9110, 7.6.1. */
const HOPS = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // Answered by our own server already.
  'expect',
];

/** Without what belongs to the connection: the fixed names and those that `Connection` lists. */
export function withoutHops(list: readonly string[]): string[] {
  const hops = new Set(HOPS);
  for (const [name, value] of pairs(list))
    if (name.toLowerCase() === 'connection')
      for (const each of value.split(',')) hops.add(each.trim().toLowerCase());
  return pairs(list)
    .filter(([name]) => !hops.has(name.toLowerCase()))
    .flat();
}

/** With what the program inside may want to know of the client: `X-Forwarded-For`, `-Host` and `-Proto`. */
export function withForwarded(list: readonly string[], { headers, socket }: IncomingMessage): string[] {
  const before = headers['x-forwarded-for'];
  const client = socket.remoteAddress ?? 'unknown';
  const added = [
    ['X-Forwarded-For', before === undefined ? client : `${before}, ${client}`],
    // A proxy before us knows better.
    ...(headers['x-forwarded-host'] === undefined ? [['X-Forwarded-Host', headers.host ?? '']] : []),
    ...(headers['x-forwarded-proto'] === undefined ? [['X-Forwarded-Proto', 'http']] : []),
  ];
  const others = pairs(list).filter(([name]) => name.toLowerCase() !== 'x-forwarded-for');
  return [...others, ...added].flat();
}

export function pairs(list: readonly string[]): (readonly [name: string, value: string])[] {
  const found: (readonly [string, string])[] = [];
  for (let at = 0; at < list.length; at += 2) found.push([list[at] ?? '', list[at + 1] ?? '']);
  return found;
}
