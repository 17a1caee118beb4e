/** The frames of Docker's streams: cut anywhere, in any size, and what is none. */
import { expect, test } from 'vitest';
import {
  type DockerStream,
  dockerStreamParser,
  MalformedStream,
} from '../../../src/lib/wire/docker-stream.ts';

const WIRE = Buffer.concat([
  frame(1, 'out'),
  frame(2, 'error text'),
  frame(1, ''),
  frame(0, 'input is nobody’s'),
  frame(1, 'x'.repeat(300)),
  frame(3, 'engine'),
]);
const SAID = { stdout: `out${'x'.repeat(300)}`, stderr: 'error text', error: 'engine' };

test('frames are told apart wherever the bytes are cut', () => {
  for (let cut = 0; cut <= WIRE.length; cut++) {
    expect(said([WIRE.subarray(0, cut), WIRE.subarray(cut)])).toEqual(SAID);
  }
  expect(said([...WIRE].map((byte) => Uint8Array.of(byte)))).toEqual(SAID);
});

test('pieces are views of what came, in order, and never gathered', () => {
  const pieces: number[] = [];
  const parse = dockerStreamParser((_stream, piece) => pieces.push(piece.length));
  const whole = frame(1, 'y'.repeat(100));
  for (let at = 0; at < whole.length; at += 10) parse(whole.subarray(at, at + 10));
  expect(pieces.reduce((a, b) => a + b)).toBe(100);
  expect(Math.max(...pieces)).toBeLessThanOrEqual(10);
});

test('the first piece of a frame is told, wherever the bytes are cut', () => {
  for (let cut = 0; cut <= WIRE.length; cut++) {
    let firsts = '';
    const parse = dockerStreamParser((_stream, piece, starts) => {
      if (starts) firsts += String.fromCharCode(piece[0] ?? 0);
    });
    for (const part of [WIRE.subarray(0, cut), WIRE.subarray(cut)]) parse(part);
    expect(firsts).toBe('oexe');
  }
});

test.each([
  ['a length beyond what engines send', [1, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff]],
  ['an unknown kind', [9, 0, 0, 0, 0, 0, 0, 1]],
  ['something between kind and length', [1, 0, 1, 0, 0, 0, 0, 1]],
  ['text', [...Buffer.from('HTTP/1.1')]],
])('%s is malformed', (_what, header) => {
  expect(() => said([Uint8Array.from(header)])).toThrow(MalformedStream);
});

function frame(kind: number, text: string): Buffer {
  const payload = Buffer.from(text);
  const header = Buffer.from([kind, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
}

function said(chunks: readonly Uint8Array[]): Record<DockerStream, string> {
  const text: Record<DockerStream, string> = { stdout: '', stderr: '', error: '' };
  const parse = dockerStreamParser((stream, piece) => {
    text[stream] += Buffer.from(piece).toString();
  });
  for (const chunk of chunks) parse(chunk);
  return text;
}
