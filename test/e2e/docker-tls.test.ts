/** An engine on a TCP port that demands certificates: the ways to give them, and what is said when they are no good. */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { certificateNeeds, makeCertificates } from '../support/engines/certificates.ts';
import { type EngineClient, engineClient } from '../support/engines/client.ts';
import { type Engine, engineNeeds, startEngine } from '../support/engines/engine.ts';
import { asRoot } from '../support/require.ts';

const needs = engineNeeds() ?? certificateNeeds;
const secure = asRoot(needs === undefined, needs ?? '');

let folder: string;
let engine: Engine;
let host: string;
/** One that knows the address only. */
let client: EngineClient;
/** One with the keys in a folder of the certificates. */
let withKeys: (name: string) => EngineClient;
const keys = (name: string) => join(folder, 'keys', name);

beforeAll(async () => {
  if (needs !== undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'sbx-tls-'));
  makeCertificates(keys(''), {
    server: { use: 'serverAuth' },
    client: { use: 'clientAuth' },
    late: { use: 'clientAuth', days: -1 },
  });
  makeCertificates(join(folder, 'others'), { client: { use: 'clientAuth' } });
  mkdirSync(keys('none'));
  copyFileSync(keys('ca.pem'), keys('none/ca.pem'));
  engine = await startEngine({ work: join(folder, 'engine'), images: ['busybox'], tls: keys('') });
  host = `tcp://127.0.0.1:${engine.tlsPort()}`;
  client = engineClient(folder, host);
  withKeys = (name) => client.with({ DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: keys(name) });
  withKeys('client').must('create', 'box', '--image', 'sbx-test/busybox', '--network', 'none');
}, 180_000);
afterAll(async () => {
  if (needs !== undefined) return;
  await engine[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
}, 60_000);

describe('streams over TLS', () => {
  secure('go both ways, and end apart', () => {
    const other = withKeys('client');
    const file = join(folder, 'file');
    const bytes = Buffer.alloc(3_000_000, 'ways');
    writeFileSync(file, bytes);
    other.must('cp', file, 'box:/root/file');
    other.must('cp', 'box:/root/file', `${file}-back`);
    expect(readFileSync(`${file}-back`).equals(bytes)).toBe(true);
    const counted = other.through('sh', '-c', `exec "$@" <'${file}'`, 'sh');
    expect(counted.must('exec', '-i', 'box', '--', 'wc', '-c').trim()).toBe(String(bytes.length));
    const both = other.run('exec', 'box', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7');
    expect(both).toEqual({ code: 7, stdout: 'out\n', stderr: 'err\n' });
  });
});

describe('the keys', () => {
  secure('of a setting are used', () => {
    client.must(
      'backend',
      'add',
      'set',
      '--type',
      'docker',
      '--set',
      `host=${host}`,
      '--set',
      `cert-path=${keys('client')}`,
    );
    expect(client.must('ls', '--backend', 'set', '-q')).toBe('box\n');
  });

  secure('prove who we are where nobody wants to know who the engine is', () => {
    mkdirSync(keys('trusting'));
    copyFileSync(join(folder, 'others/ca.pem'), keys('trusting/ca.pem'));
    for (const name of ['cert.pem', 'key.pem'])
      copyFileSync(keys(`client/${name}`), keys(`trusting/${name}`));
    const trusting = client.with({ DOCKER_TLS: '1', DOCKER_CERT_PATH: keys('trusting') });
    expect(trusting.must('ls', '-q', '--backend', 'engine')).toBe('box\n');
  });

  secure('of a docker context are used', () => {
    const digest = createHash('sha256').update('far').digest('hex');
    const contexts = join(folder, '.docker/contexts');
    mkdirSync(join(contexts, 'meta', digest), { recursive: true });
    const meta = { Name: 'far', Endpoints: { docker: { Host: host, SkipTLSVerify: false } } };
    writeFileSync(join(contexts, 'meta', digest, 'meta.json'), JSON.stringify(meta));
    const tls = join(contexts, 'tls', digest, 'docker');
    mkdirSync(tls, { recursive: true });
    for (const name of ['ca.pem', 'cert.pem', 'key.pem'])
      copyFileSync(keys(`client/${name}`), join(tls, name));
    const far = client.with({ DOCKER_HOST: '', DOCKER_CONTEXT: 'far' });
    expect(far.must('ls', '-q', '--backend', 'engine')).toBe('box\n');
  });
});

describe.each([
  [
    'of another authority',
    6,
    /prove/,
    () => client.with({ DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: join(folder, 'others/client') }),
  ],
  ['that are not there', 6, /prove with the certificates of this machine/, () => withKeys('nowhere')],
  ['without a certificate of ours', 4, /wants a certificate/, () => withKeys('none')],
  ['with an expired certificate', 4, /late\/cert\.pem, which expired at \d{4}-/, () => withKeys('late')],
  [
    'that belong to another name',
    6,
    /localhost/,
    () => withKeys('client').at(host.replace('127.0.0.1', 'localhost')),
  ],
  ['that nobody asks for: plain HTTP', 6, /no Docker engine/, () => client],
] as const)('keys %s', (_, code, what, other) => {
  secure(`end with ${code} and say what to do`, () => {
    const ls = other().run('ls', '--backend', 'engine');
    expect(ls).toMatchObject({ code, stderr: expect.stringMatching(what) });
    expect(ls.stderr).toMatch(/^hint: .*cert-path FOLDER/m);
    expect(other().run('exec', 'box', '--', 'true')).toMatchObject({ code: 125, stderr: ls.stderr });
    const { stderr } = other().run('ls', '--backend', 'engine', '--json');
    expect(JSON.parse(stderr)).toMatchObject({ code: code === 4 ? 'auth' : 'unreachable', retryable: false });
  });
});

secure('a key that cannot be used is told with its folder', () => {
  mkdirSync(keys('broken'));
  for (const name of ['ca.pem', 'cert.pem']) copyFileSync(keys(`client/${name}`), keys(`broken/${name}`));
  writeFileSync(keys('broken/key.pem'), 'no key');
  const ls = withKeys('broken').run('ls', '--backend', 'engine');
  expect(ls).toMatchObject({ code: 4, stderr: expect.stringContaining(keys('broken')) });
  expect(ls.stderr).toMatch(/^hint: .*PEM/m);
});
