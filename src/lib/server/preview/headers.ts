/** Headers on their way through a proxy. Lists hold names and values by turns, as they came: order, letters and repetitions stay. */
import type { IncomingMessage } from 'node:http';
import { hopHeaders } from '../http/hop-headers.ts';

/** Without what belongs to the connection: the fixed names and those that `Connection` lists. */
export function withoutHops(list: readonly string[]): string[] {
  const all = pairs(list);
  const hops = hopHeaders(
    all.filter(([name]) => name.toLowerCase() === 'connection').map(([, value]) => value),
  );
  return all.filter(([name]) => !hops.has(name.toLowerCase())).flat();
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
