import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type BackendOptions, type Catalog, openBackends } from '../../../src/lib/backend/registry.ts';
import { storePaths } from '../../../src/lib/store/paths.ts';
import { fakeType } from '../../support/fake-backend.ts';

let folder: string;
let opened: BackendOptions[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-registry-'));
  opened = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const onOpen = (options: BackendOptions) => void opened.push(options);
const catalog: Catalog = {
  local: fakeType('local', { onOpen, capabilities: { fork: 'native' } }),
  cloud: fakeType('cloud', {
    onOpen,
    capabilities: { fork: 'derived', stats: 'native' },
    config: [
      {
        name: 'key',
        description: 'API key',
        required: true,
        secret: true,
        env: 'CLOUD_KEY',
        from: 'https://cloud.example/keys',
      },
      { name: 'url', description: 'address', required: true, env: 'CLOUD_URL' },
      { name: 'region', description: 'where', required: false },
    ],
  }),
};

function open(config?: unknown, env: Record<string, string> = {}, preferred?: string) {
  if (config !== undefined)
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  const paths = storePaths({ SBX_CONFIG_DIR: folder, SBX_STATE_DIR: folder });
  return openBackends({ catalog, paths, env, preferred, notice: () => undefined });
}

test('nothing configured: one backend, local', async () => {
  const backends = open();
  expect(backends.names()).toEqual(['local']);
  expect(backends.default()).toBe('local');
  expect((await backends.get()).name).toBe('local');
  expect(backends.describe('local')).toMatchObject({
    type: 'local',
    isDefault: true,
    manifest: { type: 'local' },
  });
});

test('each backend is opened once, when it is asked for', async () => {
  const backends = open({ backends: { a: { type: 'local' } } });
  expect(opened).toEqual([]);
  expect(await backends.get('a')).toBe(await backends.get('a'));
  expect(opened.map(({ name }) => name)).toEqual(['a']);
});

test('the default: --backend, else the config file, else local', () => {
  const config = { backend: 'a', backends: { a: { type: 'local' } } };
  expect(open(config).default()).toBe('a');
  expect(open(config, {}, 'local').default()).toBe('local');
});

test('an unknown name is not found, and says what was probably meant', async () => {
  const backends = open({ backends: { production: { type: 'local' } } });
  await expect(backends.get('prodution')).rejects.toMatchObject({
    code: 'not_found',
    message: "no backend is called 'prodution'",
    hint: 'did you mean production? see all: sbx backend ls',
  });
  await expect(backends.get('toString')).rejects.toMatchObject({ code: 'not_found' });
});

test('an unknown type names the types that there are', async () => {
  await expect(open({ backends: { x: { type: 'clod' } } }).get('x')).rejects.toMatchObject({
    code: 'failed',
    message: "backend 'x': there is no backend type 'clod'",
    hint: 'did you mean cloud? types: local, cloud',
  });
  await expect(open({ backends: { x: { type: 'constructor' } } }).get('x')).rejects.toMatchObject({
    code: 'failed',
  });
});

describe('settings', () => {
  test('come from the file, from the variable that it names, or from their own', async () => {
    const config = { backends: { c: { type: 'cloud', key: { env: 'MY_KEY' }, region: 7 } } };
    await open(config, { MY_KEY: 's3cret', CLOUD_KEY: 'other', CLOUD_URL: 'https://c' }).get('c');
    expect(opened[0]?.settings).toEqual({ key: 's3cret', url: 'https://c', region: '7' });
  });

  test('all that is missing is said at once, with where to get it', async () => {
    await expect(open({ backends: { c: { type: 'cloud' } } }).get('c')).rejects.toMatchObject({
      code: 'auth',
      backend: 'c',
      message: "backend 'c' (cloud) needs $CLOUD_KEY and $CLOUD_URL, which are not set",
      hint: 'export CLOUD_KEY=… (API key; get it: https://cloud.example/keys); export CLOUD_URL=…',
    });
    expect(opened).toEqual([]);
  });

  test('a variable that the file names and that is not set is missed, also for an option that is not required', async () => {
    const config = { backends: { c: { type: 'cloud', key: 'k', url: 'u', region: { env: 'REGION' } } } };
    await expect(open(config).get('c')).rejects.toMatchObject({
      code: 'failed',
      message: expect.stringContaining('$REGION'),
    });
  });

  test('an option that the type does not have is refused', async () => {
    const config = { backends: { l: { type: 'local', speed: 'fast' } } };
    await expect(open(config).get('l')).rejects.toMatchObject({ hint: 'sbx config unset backends.l.speed' });
  });

  test('a secret in a file that others may read is refused', async () => {
    const config = { backends: { c: { type: 'cloud', key: 's3cret', url: 'u' } } };
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    chmodSync(join(folder, 'config.json'), 0o644);
    await expect(open().get('c')).rejects.toMatchObject({ hint: `chmod 600 ${join(folder, 'config.json')}` });
    chmodSync(join(folder, 'config.json'), 0o600);
    expect((await open().get('c')).name).toBe('c');
  });
});

test('all() gives those that open, and then the first failure', async () => {
  const seen: string[] = [];
  const run = async () => {
    for await (const { name } of open({ backends: { c: { type: 'cloud' }, l: { type: 'local' } } }).all())
      seen.push(name);
  };
  await expect(run()).rejects.toMatchObject({ code: 'auth' });
  expect(seen).toEqual(['local', 'l']);
});

test('having() names the types with a capability', () => {
  expect(open().having('fork')).toEqual(['local', 'cloud']);
  expect(open().having('stats')).toEqual(['cloud']);
  expect(open().having('suspend')).toEqual([]);
});
