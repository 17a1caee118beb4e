/** Requests for a connection itself, and what comes behind them: WebSockets, links, and what is neither. */
import type { Chance } from './chance.ts';

const upgradeTo = (...lines: readonly string[]) => ['Connection: Upgrade', ...lines].join('\r\n');
const UPGRADES = [
  upgradeTo('Upgrade: h2c'),
  upgradeTo('Upgrade: sbx-frames/1'),
  upgradeTo('Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg=='),
  upgradeTo('Upgrade: websocket', 'Sec-WebSocket-Version: 1', 'Sec-WebSocket-Key: short'),
];
const frame = (kind: number, content: string) =>
  Buffer.from(
    `${String.fromCharCode(kind, 0, 0, content.length >> 8, content.length & 0xff)}${content}`,
    'latin1',
  );
/** What comes behind an upgrade: frames of WebSockets and of links, and what is neither. */
const FRAMES = [
  ...['', '{}', '[]', '{', '{"exec":{"argv":["true"],"stdin":"none"}}', '{"exec":5}', '{"create":{}}'].map(
    (text) => frame(0, text),
  ),
  ...['', 'abc', '\x02\x7f\xff\xff\xff'].map((content) => frame(1, content)),
  frame(2, 'keys'),
  ...[
    '\xff'.repeat(5),
    '\x81\x01x',
    `\x82\xff${'\x7f'.repeat(12)}`,
    '\x88\x81abcd',
    '\xf1\x80abcd',
    'GET / HTTP/1.1\r\n\r\n',
  ].map((bytes) => Buffer.from(bytes, 'latin1')),
];
const ARGS = [
  '{}',
  '[',
  '5',
  '{"port":80}',
  '{"port":"80","host":"::"}',
  '{"name":"x","size":{"cols":80,"rows":24}}',
];

/** The query of a link, which holds its arguments. */
export function oddArgs(chance: Chance): string {
  return `?args=${encodeURIComponent(chance.pick(ARGS))}`;
}

/** A request of these lines that asks for an upgrade, and frames behind it. */
export function oddUpgrade(head: readonly string[], chance: Chance): Buffer {
  const lines = [...head, chance.pick(UPGRADES)];
  const behind = Array.from({ length: chance.below(4) }, () => chance.pick(FRAMES));
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), ...behind]);
}
