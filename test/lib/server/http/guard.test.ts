import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { checkHost, checkKey, checkOrigin, sameSecret } from '../../../../src/lib/server/http/guard.ts';

const request = (headers: IncomingHttpHeaders) => ({ headers }) as IncomingMessage;
const apiKey = 'the-key-of-this-test';

test('secrets are compared whole', () => {
  expect(sameSecret('abc', 'abc')).toBe(true);
  for (const other of ['', 'ab', 'abcd', 'abd', 'ABC']) expect(sameSecret('abc', other)).toBe(false);
});

test.each<[string, IncomingHttpHeaders]>([
  ['a bearer', { authorization: `Bearer ${apiKey}` }],
  ['X-API-Key', { 'x-api-key': apiKey }],
  ['X-API-Key beside another kind of authorization', { authorization: 'Basic abc', 'x-api-key': apiKey }],
])('%s is taken', (_, headers) => {
  expect(() => checkKey(request(headers), { apiKey })).not.toThrow();
});

test.each<[string, IncomingHttpHeaders]>([
  ['nothing', {}],
  ['another key', { authorization: 'Bearer wrong' }],
  ['an empty key', { authorization: 'Bearer ' }],
  ['a wrong bearer beside a right key', { authorization: 'Bearer wrong', 'x-api-key': apiKey }],
  ['a key without its scheme', { authorization: apiKey }],
])('%s is 401', (_, headers) => {
  expect(() => checkKey(request(headers), { apiKey })).toThrow(
    expect.objectContaining({ status: 401, headers: { 'WWW-Authenticate': 'Bearer' } }),
  );
});

test('a key in the query counts where a route takes it, and only there', () => {
  expect(() => checkKey(request({}), { apiKey }, apiKey)).not.toThrow();
  expect(() => checkKey(request({}), { apiKey }, 'wrong')).toThrow('missing or invalid API key');
  expect(() => checkKey(request({}), { apiKey }, null)).toThrow('missing or invalid API key');
});

test('a server without a key asks for none', () => {
  expect(() => checkKey(request({}), { apiKey: undefined })).not.toThrow();
});

const loopback = { listen: { host: '127.0.0.1', port: 1 }, allowedHosts: ['Box.example'] };

test.each(['127.0.0.1', '127.0.0.1:80', 'localhost', 'LOCALHOST:1', '[::1]:5', 'box.EXAMPLE:7'])(
  'the host %s may call a server on loopback',
  (host) => {
    expect(() => checkHost(request({ host }), loopback)).not.toThrow();
  },
);

test.each(['evil.example', 'localhost.evil.example', 'x.box.example', '127.0.0.1.evil.example'])(
  'the host %j may not',
  (host) => {
    expect(() => checkHost(request({ host }), loopback)).toThrow(
      expect.objectContaining({ status: 403, message: 'host not allowed' }),
    );
  },
);

const open = { listen: { host: '0.0.0.0', port: 1 }, allowedHosts: [] };

test.each(['', 'a b', 'localhost:99999'])('%j is no host', (host) => {
  for (const settings of [open, loopback])
    expect(() => checkHost(request({ host }), settings)).toThrow(expect.objectContaining({ status: 400 }));
});

test('a server that listens to others is called by any name', () => {
  expect(() => checkHost(request({ host: 'any.example' }), open)).not.toThrow();
});

test('a WebSocket is for our own pages and for what is no browser', () => {
  const settings = { allowedHosts: ['box.example'] };
  const from = (origin: string | undefined) => () =>
    checkOrigin(request({ host: 'localhost:4750', ...(origin === undefined ? {} : { origin }) }), settings);
  for (const origin of [undefined, 'http://localhost:4750', 'https://box.example'])
    expect(from(origin)).not.toThrow();
  for (const origin of ['null', 'http://localhost:1', 'http://evil.example', 'http://x.box.example', ''])
    expect(from(origin)).toThrow(expect.objectContaining({ status: 403 }));
});
