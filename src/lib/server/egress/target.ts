/**
 * Where the proxy connects to. The name is looked up once and the address that was looked at is the one that is connected to,
 * so that a name cannot lead elsewhere a moment later.
 */
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import type { AllowedHosts } from './allowed-hosts.ts';
import { GatewayRefusal } from './refusal.ts';

/** All addresses of a name, as {@link lookup} has them. */
export type LookUp = (host: string) => Promise<readonly { readonly address: string }[]>;

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Networks that are not public, by the version of IP. RFC 6890 and its registries. */
const PRIVATE = {
  ipv4: [
    ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
    ...['192.0.0.0/24', '192.0.2.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24'],
    ...['203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ],
  // Only 2000::/3 is public, and parts of it lead back to IPv4, or nowhere.
  ipv6: ['::/3', '4000::/2', '8000::/1', '2001:db8::/32', '2002::/16', '2001::/23'],
} as const;

/** A list for each version: Node.js looks for an IPv4 address in rules for IPv6, too. */
const nowhere = { ipv4: listOf('ipv4'), ipv6: listOf('ipv6') };

function listOf(version: keyof typeof PRIVATE): BlockList {
  const list = new BlockList();
  for (const each of PRIVATE[version]) {
    const [address = '', bits] = each.split('/');
    list.addSubnet(address, Number(bits), version);
  }
  return list;
}

/** Whether an address is one of the public Internet. An IPv4 address in the clothes of IPv6 is not: nobody needs it. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0) return false;
  const version = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  return !nowhere[version].check(address, version);
}

const lookUpAll: LookUp = (host) => lookup(host, { all: true });

/**
 * The address to connect to for `target`.
 * @throws GatewayRefusal 403 where it may not be gone to, 502 where the name leads nowhere
 */
export async function resolveTarget(
  { host, port }: Target,
  allow: AllowedHosts,
  look: LookUp = lookUpAll,
): Promise<string> {
  if (!allow.allows(host, port)) {
    throw new GatewayRefusal(403, 'host_not_allowed', `this sandbox may not connect to ${host}:${port}`);
  }
  const addresses = isIP(host) === 0 ? await addressesOf(host, look) : [host];
  const found = addresses.find((address) => isPublic(address) || allow.allowsAddress(address, port));
  if (found !== undefined) return found;
  throw new GatewayRefusal(
    403,
    'host_not_allowed',
    `${host} is in no public network, and its address was not allowed as such`,
  );
}

async function addressesOf(host: string, look: LookUp): Promise<string[]> {
  try {
    return (await look(host)).map(({ address }) => address);
  } catch {
    throw new GatewayRefusal(502, 'unreachable', `the name ${host} leads nowhere`);
  }
}
