import { describe, expect, it } from 'vitest';
import {
  attachPacket,
  detachPacket,
  PACKET_SIZE,
  type Packet,
  packetReader,
  pushPackets,
  redrawPacket,
  sizePacket,
} from '../../../src/lib/wire/dtach.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('packets', () => {
  it('are the bytes that dtach 0.9 reads', () => {
    expect(hex(attachPacket())).toBe('01000000000000000000');
    expect(hex(detachPacket())).toBe('02000000000000000000');
    expect(hex(pushPackets(Buffer.from('a')))).toBe('00016100000000000000');
    expect(hex(pushPackets(Buffer.from('12345678')))).toBe('00083132333435363738');
    expect(hex(pushPackets(Buffer.from('123456789')))).toBe('0008313233343536373800013900000000000000');
    expect(pushPackets(Buffer.alloc(0))).toHaveLength(0);
  });

  it('carry sizes as the words of struct winsize', () => {
    const words = (bytes: Buffer) => [...new Uint16Array(Uint8Array.from(bytes.subarray(2)).buffer)];
    expect([...sizePacket({ cols: 300, rows: 50 }).subarray(0, 2)]).toEqual([3, 0]);
    expect(words(sizePacket({ cols: 300, rows: 50 }))).toEqual([50, 300, 0, 0]);
    expect([...redrawPacket({ cols: 80, rows: 24 }).subarray(0, 2)]).toEqual([4, 3]);
    expect(words(redrawPacket({ cols: 80, rows: 24 }))).toEqual([24, 80, 0, 0]);
    expect(words(sizePacket({ cols: 1e6, rows: 1e6 }))).toEqual([65_535, 65_535, 0, 0]);
  });

  it('hold every byte of the input, in order', () => {
    for (let length = 0; length < 40; length++) {
      const input = Buffer.from(Array.from({ length }, (_, at) => (at * 37) & 0xff));
      const packets = packetReader()(pushPackets(input));
      expect(packets.every((one) => one.type === 'push' && one.data.length > 0)).toBe(true);
      const data = packets.flatMap((one) => (one.type === 'push' ? [one.data] : []));
      expect(Buffer.concat(data)).toEqual(input);
    }
  });
});

describe('a packet reader', () => {
  const all = Buffer.concat([
    attachPacket(),
    redrawPacket({ cols: 90, rows: 20 }),
    pushPackets(Buffer.from('hello, world')),
    sizePacket({ cols: 10, rows: 5 }),
    detachPacket(),
  ]);
  const wanted: Packet[] = [
    { type: 'attach' },
    { type: 'redraw', method: 3, size: { cols: 90, rows: 20 } },
    { type: 'push', data: Buffer.from('hello, w') },
    { type: 'push', data: Buffer.from('orld') },
    { type: 'size', size: { cols: 10, rows: 5 } },
    { type: 'detach' },
  ];

  it('reads the same from every two pieces, and from single bytes', () => {
    for (let at = 0; at <= all.length; at++) {
      const read = packetReader();
      expect([...read(all.subarray(0, at)), ...read(all.subarray(at))]).toEqual(wanted);
    }
    const read = packetReader();
    expect([...all].flatMap((byte) => read(Uint8Array.of(byte)))).toEqual(wanted);
  });

  it('skips what it does not know, and believes no length above eight', () => {
    const unknown = Buffer.alloc(PACKET_SIZE, 9);
    const long = Buffer.from([0, 200, ...Buffer.from('abcdefgh')]);
    expect(packetReader()(Buffer.concat([unknown, long, attachPacket()]))).toEqual([
      { type: 'push', data: Buffer.from('abcdefgh') },
      { type: 'attach' },
    ]);
  });
});
