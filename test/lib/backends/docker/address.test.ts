/** Where the engine is looked for. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addressText, findAddress, parseAddress } from '../../../../src/lib/backends/docker/address.ts';

let config: string;
beforeEach(() => {
  config = mkdtempSync(join(tmpdir(), 'sbx-docker-'));
});
afterEach(() => rmSync(config, { recursive: true }));

const find = (settings: Record<string, string>, env: Record<string, string> = {}) =>
  findAddress({ backend: 'docker', settings, env: { DOCKER_CONFIG: config, ...env } });
const parse = (text: string) => parseAddress(text, undefined, { backend: 'docker' });

test.each([
  ['unix:///run/user/0/docker.sock', { kind: 'socket', path: '/run/user/0/docker.sock' }],
  ['tcp://10.0.0.1:2375', { kind: 'tcp', host: '10.0.0.1', port: 2375, tls: undefined }],
  ['tcp://host', { kind: 'tcp', host: 'host', port: 2375, tls: undefined }],
  ['tcp://[::1]:99', { kind: 'tcp', host: '::1', port: 99, tls: undefined }],
])('%s', (text, address) => {
  expect(parse(text)).toEqual(address);
});

test('an IPv6 address has its brackets back where it is shown', () => {
  expect(addressText(parse('tcp://[::1]:99'))).toBe('tcp://[::1]:99');
});

test('ssh is shown as it was given, and is a command whose host cannot be taken for an option', () => {
  const words = ['ssh', '-o', 'ConnectTimeout=30', '-T', '-l', 'me', '-p', '22', '--', '-oProxyCommand=x'];
  const text = 'ssh://me@-oProxyCommand=x:22';
  expect(addressText(parse(text))).toBe(text);
  expect(parse(text)).toMatchObject({
    argv: [...words.slice(0, -1), '-oproxycommand=x', 'docker', 'system', 'dial-stdio'].map((word) =>
      expect.stringMatching(new RegExp(`^${word}$`, 'i')),
    ),
  });
});

test.each(['', 'docker', 'unix:relative', 'ftp://host', 'ssh://me:secret@host', 'tcp://'])(
  '%j is no address',
  (text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'failed' }));
  },
);

test('a setting wins over DOCKER_HOST, which wins over the contexts', async () => {
  context('far', 'tcp://far:1');
  writeFileSync(join(config, 'config.json'), JSON.stringify({ currentContext: 'far' }));
  expect(await find({})).toMatchObject({ host: 'far' });
  expect(await find({}, { DOCKER_HOST: 'tcp://near:2' })).toMatchObject({ host: 'near' });
  expect(await find({ context: 'far' }, { DOCKER_HOST: 'tcp://near:2' })).toMatchObject({ host: 'far' });
  expect(await find({ host: 'tcp://set:3', context: 'far' })).toMatchObject({ host: 'set' });
});

test('keys of a context, and those that DOCKER_CERT_PATH names, make TLS', async () => {
  const keys = context('safe', 'tcp://safe:1');
  mkdirSync(keys, { recursive: true });
  writeFileSync(join(keys, 'ca.pem'), '');
  expect(await find({ context: 'safe' })).toMatchObject({
    tls: { ca: join(keys, 'ca.pem'), cert: undefined, verify: true },
  });
  const env = { DOCKER_HOST: 'tcp://host', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: keys };
  expect(await find({}, env)).toMatchObject({ port: 2376, tls: { ca: join(keys, 'ca.pem'), verify: true } });
});

test('a context may ask for TLS without proof, and one without TLS gets none of the variables', async () => {
  context('loose', 'tcp://loose:1', { SkipTLSVerify: true });
  context('plain', 'tcp://plain:1');
  const env = { DOCKER_TLS_VERIFY: '1' };
  expect(await find({ context: 'loose' }, env)).toMatchObject({ tls: { ca: undefined, verify: false } });
  expect(await find({ context: 'plain' }, env)).toMatchObject({ tls: undefined });
  expect(await find({ context: 'plain', 'cert-path': config })).toMatchObject({
    tls: { folder: config, verify: true },
  });
});

test('a context that is missing or broken is told by its name', async () => {
  await expect(find({ context: 'nope' })).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('nope'),
  });
  writeFileSync(join(config, 'config.json'), '{');
  await expect(find({})).rejects.toMatchObject({
    code: 'failed',
    message: expect.stringContaining('config.json'),
  });
});

/** @returns where its keys would be. */
function context(name: string, host: string, more: object = {}): string {
  const digest = createHash('sha256').update(name).digest('hex');
  const folder = join(config, 'contexts/meta', digest);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'meta.json'),
    JSON.stringify({ Name: name, Endpoints: { docker: { Host: host, ...more } } }),
  );
  return join(config, 'contexts/tls', digest, 'docker');
}
