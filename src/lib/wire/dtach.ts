/**
 * The protocol that dtach 0.9 speaks over its socket. A client sends packets of ten bytes; what comes back is the
 * bytes that the terminal prints, without any frame. Pure. Sizes are in the byte order of the machine, which is that
 * of the sandbox wherever a socket can reach.
 */
import { endianness } from 'node:os';

/** Length of every packet. */
export const PACKET_SIZE = 10;
/** Most bytes of input in one packet. */
export const PUSH_SIZE = 8;

const PUSH = 0;
const ATTACH = 1;
const DETACH = 2;
const WINCH = 3;
const REDRAW = 4;
/** The way of drawing again that sets the size and sends WINCH to the program, whatever it was before. */
const BY_WINCH = 3;

/** Width and height in cells, each up to 65535. */
export interface Size {
  readonly cols: number;
  readonly rows: number;
}

/** Packets that carry `input` as keys, in order. */
export function pushPackets(input: Uint8Array): Buffer {
  const count = Math.ceil(input.length / PUSH_SIZE);
  const packets = Buffer.alloc(count * PACKET_SIZE);
  for (let at = 0, from = 0; from < input.length; at += PACKET_SIZE, from += PUSH_SIZE) {
    const part = input.subarray(from, from + PUSH_SIZE);
    packets[at] = PUSH;
    packets[at + 1] = part.length;
    packets.set(part, at + 2);
  }
  return packets;
}

/** From now on the terminal's output comes here too. */
export function attachPacket(): Buffer {
  return packet(ATTACH, 0);
}

/** No more output; the connection stays. */
export function detachPacket(): Buffer {
  return packet(DETACH, 0);
}

/** Sets the size of the terminal. */
export function sizePacket(size: Size): Buffer {
  return packet(WINCH, 0, size);
}

/** Sets the size of the terminal and has the program draw itself again. */
export function redrawPacket(size: Size): Buffer {
  return packet(REDRAW, BY_WINCH, size);
}

/** What a client can say. */
export type Packet =
  | { readonly type: 'push'; readonly data: Buffer }
  | { readonly type: 'attach' | 'detach' }
  | { readonly type: 'size'; readonly size: Size }
  | { readonly type: 'redraw'; readonly method: number; readonly size: Size };

/** Reads packets from bytes that come in pieces of any length. */
export function packetReader(): (piece: Uint8Array) => Packet[] {
  let rest: Buffer = Buffer.alloc(0);
  return (piece) => {
    rest = Buffer.concat([rest, piece]);
    const packets: Packet[] = [];
    let at = 0;
    for (; rest.length - at >= PACKET_SIZE; at += PACKET_SIZE) {
      const one = parsePacket(rest.subarray(at, at + PACKET_SIZE));
      if (one !== undefined) packets.push(one);
    }
    rest = rest.subarray(at);
    return packets;
  };
}

function parsePacket(bytes: Buffer): Packet | undefined {
  const length = bytes[1] ?? 0;
  switch (bytes[0]) {
    case PUSH:
      return { type: 'push', data: Buffer.from(bytes.subarray(2, 2 + Math.min(length, PUSH_SIZE))) };
    case ATTACH:
      return { type: 'attach' };
    case DETACH:
      return { type: 'detach' };
    case WINCH:
      return { type: 'size', size: sizeIn(bytes) };
    case REDRAW:
      return { type: 'redraw', method: length, size: sizeIn(bytes) };
    default:
      return undefined;
  }
}

const LITTLE = endianness() === 'LE';

function sizeIn(bytes: Buffer): Size {
  return LITTLE
    ? { rows: bytes.readUInt16LE(2), cols: bytes.readUInt16LE(4) }
    : { rows: bytes.readUInt16BE(2), cols: bytes.readUInt16BE(4) };
}

function packet(type: number, length: number, size?: Size): Buffer {
  const bytes = Buffer.alloc(PACKET_SIZE);
  bytes[0] = type;
  bytes[1] = length;
  if (size === undefined) return bytes;
  const rows = Math.min(size.rows, 0xffff);
  const cols = Math.min(size.cols, 0xffff);
  if (LITTLE) {
    bytes.writeUInt16LE(rows, 2);
    bytes.writeUInt16LE(cols, 4);
  } else {
    bytes.writeUInt16BE(rows, 2);
    bytes.writeUInt16BE(cols, 4);
  }
  return bytes;
}
