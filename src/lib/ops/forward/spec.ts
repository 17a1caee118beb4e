/** Reads what `forward` is asked to forward. Pure. */
import { isIP } from 'node:net';
import { SbxError } from '../../errors.ts';

/** One port on this machine and one in the sandbox. */
export interface ForwardSpec {
  /** Address on this machine; undefined: the default. */
  readonly address?: string | undefined;
  /** Port on this machine; 0: the system picks. */
  readonly local: number;
  /** Port in the sandbox; 0, in reverse only: the sandbox's system picks. */
  readonly remote: number;
  /** Whether the local port was asked for by name: if it is taken, another will not do. */
  readonly explicit: boolean;
}

/** A Unix socket on this machine and a port in the sandbox. */
export interface UnixSpec {
  readonly path: string;
  readonly remote: number;
}

export interface SpecOptions {
  /** The sandbox listens and this machine is connected to. */
  readonly reverse: boolean;
}

/** Most forwards of one command: a slip such as `1-65535` is refused rather than obeyed. */
export const FORWARD_LIMIT = 1000;

const FORMS =
  'PORT, LOCAL:REMOTE, :REMOTE, ADDRESS:LOCAL:REMOTE; ports may be lists (80,443) and ranges (8000-8010)';

/**
 * `3000` · `8080:3000` · `:3000` · `0.0.0.0:8080:3000` · `[::1]:8080:3000` · `80,443` · `8000-8010` ·
 * `8000-8010:9000-9010`. The port on this machine stands first, in reverse too.
 * @throws SbxError `usage`
 */
export function parseForwardSpec(text: string, { reverse }: SpecOptions): ForwardSpec[] {
  return text.split(',').flatMap((item) => parseItem(item, text, reverse));
}

/** Every spec of a command line. @throws SbxError `usage`, also for too many and for one local port twice. */
export function parseForwardSpecs(texts: readonly string[], options: SpecOptions): ForwardSpec[] {
  const specs = texts.flatMap((text) => parseForwardSpec(text, options));
  if (specs.length > FORWARD_LIMIT) {
    throw new SbxError(
      'usage',
      `${specs.length} ports are more than the ${FORWARD_LIMIT} that one forward takes`,
    );
  }
  const seen = new Set<string>();
  for (const { address, local, remote } of specs) {
    const port = options.reverse ? remote : local;
    const key = options.reverse ? String(port) : `${address ?? ''} ${port}`;
    if (port !== 0 && seen.has(key)) throw new SbxError('usage', `port ${port} is asked for twice`);
    seen.add(key);
  }
  return specs;
}

/** `PATH:PORT`; the path may contain colons. @throws SbxError `usage` */
export function parseUnixSpec(text: string): UnixSpec {
  const at = text.lastIndexOf(':');
  if (at <= 0) {
    throw new SbxError('usage', `not a socket and a port: ${text}`, {
      hint: 'write it like --unix ./app.sock:3000',
    });
  }
  return { path: text.slice(0, at), remote: parsePort(text.slice(at + 1), text, false) };
}

function parseItem(item: string, text: string, reverse: boolean): ForwardSpec[] {
  const { address, rest } = splitAddress(item, text);
  const parts = rest.split(':');
  const [first = '', second] = parts;
  if (parts.length > 2 || (address !== undefined && second === undefined)) throw malformed(text);
  if (second === undefined) {
    return parseRange(first, text, false).map((port) => ({ local: port, remote: port, explicit: false }));
  }
  // The side that listens may leave its port to the system; the side that is connected to may not.
  const remotes = parseSide(second, text, reverse);
  const locals = parseSide(first, text, !reverse);
  const count = Math.max(locals.length, remotes.length);
  const pairs = pairUp(locals, count, text).map((local, i) => ({
    local,
    remote: pairUp(remotes, count, text)[i] ?? 0,
  }));
  return pairs.map(({ local, remote }) => ({
    ...(address === undefined ? {} : { address }),
    local,
    remote,
    explicit: local !== 0,
  }));
}

/** Takes an address off the front. */
function splitAddress(item: string, text: string): { address?: string; rest: string } {
  const bracketed = /^\[([^\]]*)\]:(.*)$/.exec(item);
  if (bracketed !== null) {
    const [, address = '', rest = ''] = bracketed;
    if (isIP(address) !== 6) throw new SbxError('usage', `not an IPv6 address: ${address} in ${text}`);
    return { address, rest };
  }
  const parts = item.split(':');
  if (parts.length < 3) return { rest: item };
  const [address = '', ...rest] = parts;
  if (parts.length > 3) {
    throw new SbxError('usage', `not a port to forward: ${text}`, {
      hint: 'write an IPv6 address in brackets: [::1]:8080:3000',
    });
  }
  if (address === 'localhost') return { address: '127.0.0.1', rest: rest.join(':') };
  if (isIP(address) !== 4) {
    throw new SbxError('usage', `not an address of this machine: ${address || '(empty)'} in ${text}`, {
      hint: 'write it like 0.0.0.0:8080:3000',
    });
  }
  return { address, rest: rest.join(':') };
}

/** One side of a pair. Empty or 0, where that is allowed: the system picks. */
function parseSide(side: string, text: string, mayPick: boolean): number[] {
  if (side === '' && mayPick) return [0];
  return parseRange(side, text, mayPick);
}

/** A side of one 0 stands for as many as the other side has. */
function pairUp(ports: readonly number[], count: number, text: string): readonly number[] {
  if (ports.length === count) return ports;
  if (ports.length === 1 && ports[0] === 0) return Array.from({ length: count }, () => 0);
  throw new SbxError('usage', `the two ranges differ in length: ${text}`);
}

function parseRange(range: string, text: string, mayPick: boolean): number[] {
  const [from = '', to, more] = range.split('-');
  if (more !== undefined) throw malformed(text);
  if (to === undefined) return [parsePort(from, text, mayPick)];
  const first = parsePort(from, text, false);
  const last = parsePort(to, text, false);
  if (last < first) throw new SbxError('usage', `the range ${range} runs backwards`);
  if (last - first >= FORWARD_LIMIT) {
    throw new SbxError('usage', `the range ${range} has more than ${FORWARD_LIMIT} ports`);
  }
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** A TCP port in decimal. @throws SbxError `usage` */
export function parsePort(digits: string, text: string = digits, mayPick = false): number {
  if (!/^\d{1,7}$/.test(digits)) throw malformed(text);
  const port = Number(digits);
  if (port > 65_535) throw new SbxError('usage', `there is no port ${digits}: the highest is 65535`);
  if (port === 0 && !mayPick) {
    throw new SbxError('usage', `port 0 cannot be connected to: ${text}`, {
      hint: 'to let the system pick the port that listens: :3000',
    });
  }
  return port;
}

function malformed(text: string): SbxError {
  return new SbxError('usage', `not a port to forward: ${text || '(empty)'}`, { hint: `it can be ${FORMS}` });
}
