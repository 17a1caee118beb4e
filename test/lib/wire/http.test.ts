/** HTTP/1.1 answers: cut anywhere, in every form of body, and what is refused. */
import { describe, expect, test } from 'vitest';
import { answerParser, type HttpHead, MalformedHttp, requestHead } from '../../../src/lib/wire/http.ts';

interface Said {
  head?: HttpHead;
  body: string;
  /** Bytes that were the answer's, once it was over. */
  own?: number;
  isComplete: boolean;
}

interface Asked {
  readonly method?: string;
  readonly upgrade?: boolean;
}

function said(chunks: readonly Uint8Array[], { method = 'GET', upgrade = false }: Asked = {}): Said {
  const all: Said = { body: '', isComplete: false };
  const parser = answerParser(
    { method, upgrade },
    {
      head(head) {
        if (all.head !== undefined) throw new Error('two heads');
        all.head = head;
      },
      data(piece) {
        if (piece.length === 0 || all.head === undefined) throw new Error('a piece of nothing');
        all.body += piece.toString('latin1');
      },
    },
  );
  let before = 0;
  for (const chunk of chunks) {
    const taken = parser.push(Buffer.from(chunk));
    if (taken !== undefined) {
      all.own = before + taken;
      break;
    }
    before += chunk.length;
  }
  all.isComplete = parser.finish();
  return all;
}

const lines = (...all: string[]) => `${all.join('\r\n')}\r\n\r\n`;
const OK = 'HTTP/1.1 200 OK';
const CHUNKED = lines(OK, 'Transfer-Encoding: chunked');
const DONE = { status: 200, body: '', persistent: true };

type Answer = readonly [
  what: string,
  text: string,
  wanted: Partial<HttpHead> & { readonly body: string },
  asked?: Asked | undefined,
];
const ANSWERS: readonly Answer[] = [
  ['a length', `${lines(OK, 'Content-Length: 5')}hello`, { ...DONE, body: 'hello' }],
  ['nothing by its length', lines(OK, 'Content-Length: 0'), DONE],
  [
    'chunks',
    `${CHUNKED}5\r\nhello\r\n00B\r\n, all of it\r\n0\r\n\r\n`,
    { ...DONE, body: 'hello, all of it' },
  ],
  [
    'chunks with extensions and trailers',
    `${CHUNKED}a ;x="y"\r\n0123456789\r\n0;last\r\nDigest: x\r\nMore:\r\n\r\n`,
    { ...DONE, body: '0123456789' },
  ],
  [
    'the end of the connection',
    `${lines(OK)}all the rest`,
    { ...DONE, body: 'all the rest', persistent: false },
  ],
  ['nothing to HEAD', lines(OK, 'Content-Length: 5'), DONE, { method: 'HEAD' }],
  ['nothing to HEAD, not even chunks', CHUNKED, DONE, { method: 'HEAD' }],
  ['nothing with 204', lines('HTTP/1.1 204 No Content'), { ...DONE, status: 204 }],
  ['nothing with 304', lines('HTTP/1.1 304 Not Modified', 'Content-Length: 5'), { ...DONE, status: 304 }],
  [
    'what HTTP/1.0 sends',
    `${lines('HTTP/1.0 200 OK', 'Content-Length: 2')}ok`,
    { ...DONE, body: 'ok', persistent: false },
  ],
  [
    'an answer after interim ones',
    `${lines('HTTP/1.1 100 Continue')}${lines('HTTP/1.1 103 Early Hints', 'Link: x')}${lines(OK, 'Content-Length: 2')}ok`,
    { ...DONE, body: 'ok', headers: { 'content-length': '2' } },
  ],
  [
    'a connection that is closed after it',
    lines(OK, 'Connection: a, Close', 'Content-Length: 0'),
    { ...DONE, persistent: false },
  ],
  [
    'the connection itself',
    lines('HTTP/1.1 101 UPGRADED', 'Upgrade: tcp'),
    { status: 101, body: '', persistent: true },
    { upgrade: true },
  ],
  [
    'headers as they may be written',
    lines('HTTP/1.1 404', 'Content-Length:0', 'X-ONE:  a b \t', 'x-one: \xe9', '__proto__: x', 'Empty:'),
    {
      ...{ status: 404, body: '', persistent: true },
      headers: Object.assign(Object.create(null), {
        ...{ 'content-length': '0', 'x-one': 'a b, \xe9', empty: '' },
        ['__proto__']: 'x',
      }),
    },
  ],
];
const EACH = ANSWERS.map(([what, text, wanted, asked = {}]) => [what, text, wanted, asked] as const);

describe('an answer', () => {
  test.each(EACH)('with %s is read wherever its bytes are cut', (what, text, wanted, asked) => {
    const isUntilClose = what === 'the end of the connection';
    const wire = Buffer.from(text, 'latin1');
    const { body, headers, ...head } = wanted;
    const expectAll = (all: Said) => {
      expect(all).toMatchObject({ head, body, isComplete: true });
      if (headers !== undefined) expect({ ...all.head?.headers }).toEqual({ ...headers });
      expect(all.own).toBe(isUntilClose ? undefined : wire.length);
    };
    for (let cut = 0; cut <= wire.length; cut++)
      expectAll(said([wire.subarray(0, cut), wire.subarray(cut)], asked));
    expectAll(
      said(
        [...wire].map((byte) => Uint8Array.of(byte)),
        asked,
      ),
    );
    // What follows is not its own.
    if (!isUntilClose) expectAll(said([Buffer.concat([wire, Buffer.from('HTTP/1.1 more')])], asked));
  });

  test.each(EACH)('with %s is not complete before its end', (what, text, _wanted, asked) => {
    const wire = Buffer.from(text, 'latin1');
    const least = what === 'the end of the connection' ? text.indexOf('\r\n\r\n') + 4 : wire.length;
    for (let cut = 0; cut < least; cut++) {
      const all = said([wire.subarray(0, cut)], asked);
      expect([all.isComplete, all.own]).toEqual([false, undefined]);
    }
  });

  test('is handed on in the pieces it comes in, whatever its lengths promise', () => {
    for (const head of [lines(OK, `Content-Length: ${'9'.repeat(15)}`), `${CHUNKED}FFFFFFFFFFFF\r\n`]) {
      const seen: Buffer[] = [];
      const parser = answerParser(
        { method: 'GET', upgrade: false },
        { head: () => undefined, data: (piece) => seen.push(piece) },
      );
      parser.push(Buffer.from(head));
      const chunk = Buffer.from('some of it');
      expect(parser.push(chunk)).toBeUndefined();
      expect(seen).toHaveLength(1);
      expect(seen[0]?.buffer).toBe(chunk.buffer);
      expect(parser.finish()).toBe(false);
    }
  });
});

describe('refused is', () => {
  test.each<readonly [string, string]>([
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['another version', lines('HTTP/2 200 OK')],
    ['a status of two digits', lines('HTTP/1.1 20 OK')],
    ['a status beyond 599', lines('HTTP/1.1 999 OK')],
    ['a status line with more before it', lines(' HTTP/1.1 200 OK')],
    ['a zero byte in the status line', lines('HTTP/1.1 200 O\0K')],
    ['a line that ends without a carriage return', 'HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n'],
    ['a carriage return within a line', lines(OK, 'A: b\rContent-Length: 0')],
    ['a header that is continued', lines(OK, 'A: b', ' c')],
    ['a header without a name', lines(OK, ': b')],
    ['a header without a colon', lines(OK, 'Content-Length')],
    ['a blank before the colon', lines(OK, 'Content-Length : 5')],
    ['a zero byte in a header', lines(OK, 'A: b\0')],
    ['a negative length', lines(OK, 'Content-Length: -1')],
    ['a length with a sign', lines(OK, 'Content-Length: +5')],
    ['a length in another base', lines(OK, 'Content-Length: 0x5')],
    ['a length that is no exact number', lines(OK, `Content-Length: ${'9'.repeat(16)}`)],
    ['an empty length', lines(OK, 'Content-Length:')],
    ['two lengths', lines(OK, 'Content-Length: 5', 'Content-Length: 5')],
    ['a length and chunks', lines(OK, 'Content-Length: 5', 'Transfer-Encoding: chunked')],
    ['an encoding that is not known', lines(OK, 'Transfer-Encoding: gzip, chunked')],
    ['chunks in HTTP/1.0', lines('HTTP/1.0 200 OK', 'Transfer-Encoding: chunked')],
    ['a chunk without a length', `${CHUNKED}\r\n`],
    ['a chunk with a negative length', `${CHUNKED}-5\r\n`],
    ['a chunk with a length in base 16 that says so', `${CHUNKED}0x5\r\n`],
    ['a chunk with a length that is no exact number', `${CHUNKED}1${'0'.repeat(12)}\r\n`],
    ['a chunk that is longer than its length', `${CHUNKED}2\r\nabc\r\n`],
    ['a trailer that is no header', `${CHUNKED}0\r\nno header\r\n`],
    ['the connection when nobody asked for it', lines('HTTP/1.1 101 UPGRADED')],
  ])('%s', (_what, text) => {
    const wire = Buffer.from(text, 'latin1');
    for (let cut = 0; cut <= wire.length; cut++)
      expect(() => said([wire.subarray(0, cut), wire.subarray(cut)])).toThrow(MalformedHttp);
  });

  test.each([
    ['a line without an end', 'x'],
    ['a header without an end', `${OK}\r\nA: `],
    ['headers without an end', `${OK}\r\n`, 'A: b\r\n'],
    ['interim answers without an end', '', lines('HTTP/1.1 100 Continue')],
    ['the length of a chunk without an end', `${CHUNKED}5;`],
    ['zeros before the length of a chunk without an end', CHUNKED, '0'],
    ['trailers without an end', `${CHUNKED}0\r\n`, 'A: b\r\n'],
  ])('%s, at 64 KiB', (_what, begin, again = 'y') => {
    const kib = Buffer.from(again.repeat(Math.ceil(1024 / again.length)));
    const chunks = (count: number) => [Buffer.from(begin), ...Array.from({ length: count }, () => kib)];
    expect(said(chunks(40)).isComplete).toBe(false);
    expect(() => said(chunks(66))).toThrow(MalformedHttp);
  });
});

test('whatever comes is read or refused, and never more than came', () => {
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((seed / 2 ** 31) * below);
  };
  let read = 0;
  let refused = 0;
  for (let round = 0; round < 20_000; round++) {
    const [, text = '', , asked] = ANSWERS[random(ANSWERS.length)] ?? [];
    const wire = Buffer.from(text, 'latin1');
    for (let count = random(4); count >= 0; count--) wire[random(wire.length)] = random(256);
    const cut = random(wire.length);
    try {
      const { body } = said([wire.subarray(0, cut), wire.subarray(cut)], asked);
      expect(body.length).toBeLessThanOrEqual(wire.length);
      read++;
    } catch (error) {
      if (!(error instanceof MalformedHttp)) throw error;
      refused++;
    }
  }
  expect(read).toBeGreaterThan(1000);
  expect(refused).toBeGreaterThan(1000);
});

describe('the head of a request', () => {
  test('is a line, headers and an empty line', () => {
    expect(requestHead('GET', '/a?b=%20', { host: 'x', 'content-length': '0' })).toBe(
      'GET /a?b=%20 HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n',
    );
  });

  test.each([
    ['/a b', {}],
    ['/a\r\nX: y', {}],
    ['/é', {}],
    ['', {}],
    ['/', { 'a b': 'c' }],
    ['/', { a: 'b\r\nc: d' }],
    ['/', { a: 'é' }],
  ])('cannot be broken by its parts: %j %j', (path, headers) => {
    expect(() => requestHead('GET', path, headers as Record<string, string>)).toThrow(RangeError);
  });
});
