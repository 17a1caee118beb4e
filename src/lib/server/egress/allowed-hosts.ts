/** Which hosts the proxy may go to, as an operator writes them: names, `*.example.com`, addresses, subnets; with or without a port. */
import { BlockList, isIP } from 'node:net';
import { SbxError } from '../../errors.ts';

export interface AllowedHosts {
  /** Whether a host may be gone to by this name or address. */
  allows(host: string, port: number): boolean;
  /** Whether an address of this machine's or of a private network was named as such. */
  allowsAddress(address: string, port: number): boolean;
}

interface Pattern {
  readonly port: number | '*' | undefined;
  matches(host: string): boolean;
  /** Whether it is one of addresses, not of names. */
  readonly isAddress: boolean;
}

/** Ports of a pattern without one. */
const WEB_PORTS: readonly number[] = [80, 443];

/** @throws SbxError `usage` */
export function allowedHosts(texts: readonly string[]): AllowedHosts {
  const patterns = texts.map(parsePattern);
  const matching = (host: string, port: number, which: readonly Pattern[]) =>
    which.some(
      (each) =>
        (each.port === undefined ? WEB_PORTS.includes(port) : each.port === '*' || each.port === port) &&
        each.matches(host),
    );
  const ofAddresses = patterns.filter(({ isAddress }) => isAddress);
  return {
    allows: (host, port) => matching(host.toLowerCase().replace(/\.$/, ''), port, patterns),
    allowsAddress: (address, port) => matching(address, port, ofAddresses),
  };
}

function parsePattern(text: string): Pattern {
  const [, bracketed, plain = '', suffix] =
    /^(?:\[(.+)\]|([^:]*|[^:]*:[^:]*:.*?))(?::(\d{1,5}|\*))?$/.exec(text) ?? [];
  const host = (bracketed ?? plain).toLowerCase();
  const port = suffix === undefined || suffix === '*' ? suffix : Number(suffix);
  const [address = '', digits] = host.split('/');
  const version = isIP(address);
  if (version !== 0) {
    const bits = digits === undefined ? (version === 4 ? 32 : 128) : Number(digits);
    if (!/^\d{1,3}$/.test(digits ?? '0') || bits > (version === 4 ? 32 : 128)) throw wrongPattern(text);
    const list = new BlockList();
    const kind = version === 4 ? 'ipv4' : 'ipv6';
    list.addSubnet(address, bits, kind);
    const matches = (given: string) => isIP(given) === version && list.check(given, kind);
    return { port, matches, isAddress: true };
  }
  if (host === '*') return { port, matches: () => true, isAddress: false };
  if (!/^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/.test(host)) throw wrongPattern(text);
  const matches = host.startsWith('*.')
    ? (given: string) => given.endsWith(host.slice(1)) && isIP(given) === 0
    : (given: string) => given === host;
  return { port, matches, isAddress: false };
}

function wrongPattern(text: string): SbxError {
  return new SbxError('usage', `--egress-allow ${JSON.stringify(text)} is no host`, {
    hint: 'pypi.org, *.debian.org, registry.example:8443, 10.1.0.0/16, or * for all public ones',
  });
}
