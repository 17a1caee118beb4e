/** Reads what `ports.sh` prints. Pure; every line comes out of a sandbox and is believed only as far as its form goes. */
import type { ListeningPort } from '../backend/contract.ts';

export interface PortsParseOptions {
  /** Leave out sockets whose process cannot be seen: for a sandbox that shares the network of its host. */
  readonly ownedOnly: boolean;
}

const LISTEN = /^listen ([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) (\d{1,20})$/;
const OWNER = /^owner (\d{1,20}) (\d{1,10}) (.*)$/;
/** The kernel cuts names of processes at 15 bytes, of its own threads a little later. */
const NAME_LIMIT = 64;

/** What listens, one entry an address and port, sorted by port. Unknown lines are skipped. */
export function parsePorts(text: string, { ownedOnly }: PortsParseOptions): ListeningPort[] {
  const sockets: { readonly address: string; readonly port: number; readonly inode: string }[] = [];
  const owners = new Map<string, { readonly pid: number; readonly process: string }>();
  for (const line of text.split('\n')) {
    const [, hex, port, inode] = LISTEN.exec(line) ?? [];
    if (hex !== undefined && port !== undefined && inode !== undefined) {
      sockets.push({ address: addressOf(hex), port: Number.parseInt(port, 16), inode });
      continue;
    }
    const [, socket, id, process] = OWNER.exec(line) ?? [];
    if (socket === undefined || id === undefined || process === undefined) continue;
    const pid = Number(id);
    const known = owners.get(socket);
    // Workers share their parent's socket; the parent has the lowest number.
    if (known === undefined || pid < known.pid) {
      owners.set(socket, { pid, process: process.slice(0, NAME_LIMIT) });
    }
  }
  const found = new Map<string, ListeningPort>();
  for (const { address, port, inode } of sockets) {
    const owner = owners.get(inode);
    if (port === 0 || (owner === undefined && ownedOnly)) continue;
    const key = `${address} ${port}`;
    if (found.get(key)?.pid !== undefined) continue;
    const { pid, process } = owner ?? {};
    found.set(key, {
      port,
      address,
      ...(pid === undefined ? {} : { pid }),
      ...(process === undefined || process === '' ? {} : { process }),
    });
  }
  return [...found.values()].sort((a, b) => a.port - b.port || (a.address < b.address ? -1 : 1));
}

/** An address from the kernel's spelling: words of 32 bits, each with its bytes in little-endian order. */
export function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, 'hex')].reverse());
  if (bytes.length === 4) return bytes.join('.');
  const mapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  if (mapped) return bytes.slice(12).join('.');
  const groups = Buffer.from(bytes).toString('hex').match(/.{4}/g) ?? [];
  // The URL parser writes IPv6 addresses in their canonical short form.
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}
