/** Chunked bodies: cut anywhere, with extensions and trailers, and what is none. */
import { expect, test } from 'vitest';
import { chunkedParser } from '../../../src/lib/wire/http-chunked.ts';

const WIRE = Buffer.from('5\r\nfirst\r\nA;name=value\r\n 0\r\nsecond\r\n0\r\nTrailer: x\r\n\r\nbehind');
const OVER = WIRE.indexOf('behind');

function parsed(chunks: readonly Uint8Array[]): { text: string; over: boolean } {
  let text = '';
  let over = false;
  const parse = chunkedParser((piece) => {
    text += Buffer.from(piece).toString();
  });
  for (const chunk of chunks) over = parse(chunk);
  return { text, over };
}

test('the data and its end are told wherever the bytes are cut', () => {
  const whole = { text: 'first 0\r\nsecond', over: true };
  for (let cut = 0; cut <= WIRE.length; cut++)
    expect(parsed([WIRE.subarray(0, cut), WIRE.subarray(cut)])).toEqual(whole);
  expect(parsed([...WIRE].map((byte) => Uint8Array.of(byte)))).toEqual(whole);
  for (let length = 0; length < OVER; length++) expect(parsed([WIRE.subarray(0, length)]).over).toBe(false);
});

test('pieces are views of what came', () => {
  const bytes = Buffer.from('3\r\nabc\r\n');
  chunkedParser((piece) => expect(piece.buffer).toBe(bytes.buffer))(bytes);
});

test.each(['x\r\n', '\r\n', '-1\r\n', `${'1'.repeat(13)}\r\n`, '1\r\nab\r\n', '9'.repeat(20_000)])(
  'what is no chunk is refused: %j',
  (text) => expect(() => parsed([Buffer.from(text)])).toThrow(),
);
