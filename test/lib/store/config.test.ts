import { execFile } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { configPath, flagDefaults, readConfig } from '../../../src/lib/store/config.ts';
import { changeConfig } from '../../../src/lib/store/config-write.ts';
import { asRoot } from '../../support/require.ts';
import { mounting, tinyDisk } from '../../support/tiny-disk.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = fs.mkdtempSync(join(tmpdir(), 'sbx-config-'));
  path = configPath(folder);
});
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

const call = { signal: new AbortController().signal };

test('no file is an empty configuration; the first change makes it, 0600', async () => {
  const deep = join(folder, 'not/there');
  expect(readConfig(deep)).toEqual({});
  await changeConfig(deep, call, (present) => ({ ...present, backend: 'local' }));
  expect(readConfig(deep)).toEqual({ backend: 'local' });
  expect(fs.statSync(configPath(deep)).mode & 0o777).toBe(0o600);
  expect(fs.statSync(deep).mode & 0o777).toBe(0o700);
  expect(fs.readdirSync(deep).sort()).toEqual(['config.json', 'config.json.lock']);
});

test('keys that this version does not know are kept', async () => {
  fs.writeFileSync(path, '{"later": {"a.b": [1]}, "backends": {"x": {"type": "new", "odd-one": 3}}}', {
    mode: 0o600,
  });
  await changeConfig(folder, call, (present) => ({ ...present, defaults: { memory: '1g' } }));
  expect(JSON.parse(fs.readFileSync(path, 'utf8'))).toEqual({
    later: { 'a.b': [1] },
    backends: { x: { type: 'new', 'odd-one': 3 } },
    defaults: { memory: '1g' },
  });
});

describe('a file that is no good is named and not touched', () => {
  test.each([
    ['', 'it is empty'],
    ['{"backend": "lo', 'it is not valid JSON'],
    ['[]', 'it must hold a JSON object'],
    ['{"backend": 3}', '"backend" must be the name of a backend'],
    ['{"backends": {"a/b": {"type": "local"}}}', 'a key of "backends" is no name'],
    ['{"backends": {"a": {}}}', '"backends.a.type" is missing'],
    ['{"backends": {"a": {"type": "x", "token": {"env": "no name"}}}}', '"backends.a.token" must be'],
    ['{"defaults": {"memory": null}}', '"defaults.memory" must be'],
  ])('%s', async (text, reason) => {
    fs.writeFileSync(path, text, { mode: 0o600 });
    const message = expect.stringContaining(`cannot use ${path}: ${reason}`);
    expect(() => readConfig(folder)).toThrow(expect.objectContaining({ code: 'failed', message }));
    await expect(changeConfig(folder, call, () => ({ backend: 'x' }))).rejects.toMatchObject({ message });
    expect(fs.readFileSync(path, 'utf8')).toBe(text);
  });

  test('read-only', async () => {
    fs.writeFileSync(path, '{}', { mode: 0o400 });
    await expect(changeConfig(folder, call, () => ({ backend: 'x' }))).rejects.toThrow(
      `cannot write ${path}: it is read-only`,
    );
    expect(fs.readFileSync(path, 'utf8')).toBe('{}');
  });
});

test('a change that would break it is refused', async () => {
  await expect(changeConfig(folder, call, () => ({ backend: 'a b' }))).rejects.toMatchObject({
    code: 'usage',
  });
  expect(fs.existsSync(path)).toBe(false);
});

test('a linked config file stays a link', async () => {
  const dotfiles = join(folder, 'dotfiles');
  fs.mkdirSync(dotfiles);
  fs.writeFileSync(join(dotfiles, 'sbx.json'), '{"backend": "a"}', { mode: 0o600 });
  fs.symlinkSync('dotfiles/sbx.json', path);
  await changeConfig(folder, call, (present) => ({ ...present, defaults: { cpus: 2 } }));
  expect(fs.readlinkSync(path)).toBe('dotfiles/sbx.json');
  expect(JSON.parse(fs.readFileSync(join(dotfiles, 'sbx.json'), 'utf8'))).toEqual({
    backend: 'a',
    defaults: { cpus: 2 },
  });
  expect(fs.readdirSync(dotfiles)).toEqual(['sbx.json']);
});

test('processes that change it at once lose nothing', async () => {
  const lib = new URL('../../../src/lib/store/config-write.ts', import.meta.url).pathname;
  const code = `import { changeConfig } from ${JSON.stringify(lib)};
    const [folder, who] = process.argv.slice(1);
    const call = { signal: new AbortController().signal };
    for (let i = 0; i < 5; i++) {
      await changeConfig(folder, call, (c) => ({ ...c, defaults: { ...c.defaults, [who + i]: i } }));
    }`;
  const run = promisify(execFile);
  const writers = ['a', 'b', 'c'];
  await Promise.all(
    writers.map((who) => run(process.execPath, ['--input-type=module', '-e', code, folder, who])),
  );
  expect(Object.keys(readConfig(folder).defaults ?? {})).toHaveLength(15);
}, 30_000);

mounting('a full disk leaves the old configuration whole', async () => {
  const mount = join(folder, 'tiny');
  using _disk = tinyDisk(mount);
  await changeConfig(mount, call, () => ({ backend: 'old' }));
  const huge = 'x'.repeat(100_000);
  await expect(changeConfig(mount, call, (present) => ({ ...present, huge }))).rejects.toMatchObject({
    code: 'failed',
    message: `cannot write ${configPath(mount)}: no space left on the device`,
  });
  expect(readConfig(mount)).toEqual({ backend: 'old' });
  expect(fs.readdirSync(mount).sort()).toEqual(['config.json', 'config.json.lock']);
});

asRoot()('a HOME that cannot be written is named', async () => {
  fs.chmodSync(folder, 0o755);
  const store = new URL('../../../src/lib/store/', import.meta.url).pathname;
  const code = `const [{ changeConfig }, { readConfig }, { storePaths }] = await Promise.all(
      ['config-write.ts', 'config.ts', 'paths.ts'].map((name) => import(${JSON.stringify(store)} + name)));
    const { config } = storePaths({ HOME: process.argv[1] });
    const empty = JSON.stringify(readConfig(config));
    const error = await changeConfig(config, { signal: new AbortController().signal }, (c) => c).catch((e) => e);
    console.log(JSON.stringify({ empty, code: error.code, message: error.message }));`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '-e', code, folder],
    {
      uid: 65534,
      gid: 65534,
      cwd: '/',
    },
  );
  expect(JSON.parse(stdout)).toEqual({
    empty: '{}',
    code: 'failed',
    message: `cannot make the folder ${folder}/.config/sbx: permission denied`,
  });
});

test('flags get their texts, except those of the verbs that repair the configuration', () => {
  fs.writeFileSync(path, '{"defaults": {"memory": "1g", "cpus": 2, "all": true, "label": ["a=b", "c"]}}');
  const texts = { memory: '1g', cpus: '2', all: 'true', label: 'a=b\nc' };
  expect(flagDefaults(() => folder, 'create')).toEqual(texts);
  fs.writeFileSync(path, 'broken');
  expect(() => flagDefaults(() => folder, 'create')).toThrow(path);
  expect(flagDefaults(() => folder, 'config:path')).toEqual({});
  expect(flagDefaults(() => folder, 'doctor')).toEqual({});
});
