/** `sbx serve` with a certificate, and clients that trust it or do not. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, expect } from 'vitest';
import { WebSocket } from 'ws';
import { clientOf, KEY } from '../support/built-server.ts';
import { certificateNeeds, makeCertificates } from '../support/engines/certificates.ts';
import { requireOrSkip } from '../support/require.ts';
import { serverHost } from '../support/server-host.ts';

const host = serverHost();
const test = requireOrSkip(certificateNeeds === undefined, certificateNeeds ?? 'nothing');
const ours = host.newFolder('certificates');
const others = host.newFolder('certificates');

beforeAll(() => {
  if (certificateNeeds !== undefined) return;
  makeCertificates(ours, { server: { use: 'serverAuth' } });
  makeCertificates(others, { server: { use: 'serverAuth' } });
});

const start = () =>
  host.start(host.newState(), {
    flags: ['--tls-cert', `${ours}/server/cert.pem`, '--tls-key', `${ours}/server/key.pem`],
  });

test('commands, their streams and files pass through it', async () => {
  const { url } = await start();
  expect(url).toMatch(/^https:/);
  const sbx = clientOf(url, host.newFolder('client'), [`ca=${ours}/ca.pem`]);
  expect(await sbx('create', 'box')).toMatchObject({ exit: 0 });
  expect(
    await sbx('exec', 'box', '--', 'sh', '-c', 'head -c 3000000 /dev/zero | tr "\\0" 0; exit 7'),
  ).toEqual({
    exit: 7,
    stdout: '0'.repeat(3_000_000),
    stderr: '',
  });
  const file = host.newFolder('file');
  writeFileSync(file, 'passed');
  expect(await sbx('cp', file, 'box:/workspace/file')).toMatchObject({ exit: 0 });
  expect(await sbx('files', 'cat', 'box', '/workspace/file')).toMatchObject({ stdout: 'passed' });
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/sandboxes/box/terminal?key=${KEY}`, {
    ca: readFileSync(`${ours}/ca.pem`),
  });
  await once(socket, 'message');
  socket.close();
  await once(socket, 'close');
});

test('another authority and none at all are refused, before the key is told', async () => {
  const server = await start();
  for (const settings of [[`ca=${others}/ca.pem`], []])
    expect(await clientOf(server.url, host.newFolder('client'), settings)('ls')).toMatchObject({
      exit: 6,
      stderr: expect.stringMatching(/cannot reach the server at https:.*(certificate|issuer)/),
    });
  expect(server.said()).not.toContain('"route"');
});

test('a client without TLS learns nothing', async () => {
  const { url } = await start();
  const sbx = clientOf(url.replace('https:', 'http:'), host.newFolder('client'));
  expect(await sbx('ls')).toMatchObject({
    exit: 6,
    stderr: expect.stringContaining('cannot reach the server'),
  });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write('GET /info HTTP/1.1\r\nHost: localhost\r\n\r\n');
  expect(await text(socket)).not.toContain('driver');
});

test('a client that does not finish its handshake is left', async () => {
  const { url } = await start();
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => undefined);
  await once(socket, 'close');
});
