/** What the built bin loads before it needs it: nothing that is slow. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BuiltServer, builtServer, KEY } from '../support/built-server.ts';
import { root } from './sources.ts';

const folder = mkdtempSync(join(tmpdir(), 'sbx-start-'));
const list = join(folder, 'loaded');
const hook = join(folder, 'hook.mjs');
writeFileSync(
  hook,
  `import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({ load: (url, context, next) => { appendFileSync(${JSON.stringify(list)}, url + '\\n'); return next(url, context); } });`,
);

/** Runs the built bin. @returns the files that it loaded. */
function loadedBy(...args: string[]): string[] {
  writeFileSync(list, '');
  execFileSync(process.execPath, ['--import', pathToFileURL(hook).href, join(root, 'bin/run.js'), ...args], {
    env: { PATH: process.env.PATH, HOME: folder, SBX_STATE_DIR: join(folder, 'state'), TOKEN: KEY },
    stdio: 'pipe',
  });
  return readFileSync(list, 'utf8').split('\n');
}

/** The packages among them. */
function packagesOf(urls: readonly string[]): string[] {
  return [...new Set(urls.flatMap((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.slice(1) ?? []))];
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  [['--version']],
  [['help']],
  [['exec', '--help']],
  [['version']],
  [['backend', 'ls']],
  [['completion', 'complete', 'zsh', '']],
])('sbx %j loads no package and no backend', (args) => {
  const loaded = loadedBy(...args);
  expect(loaded.length).toBeGreaterThan(5);
  expect(packagesOf(loaded)).toEqual([]);
  expect(loaded.filter((url) => url.includes('/backends/'))).toEqual([]);
});

describe('with a sandbox', () => {
  beforeAll(() => void loadedBy('create', 'box'));
  afterAll(() => void loadedBy('rm', '--force', 'box'));

  test.each([
    [['exec', 'box', 'true']],
    [['exec', '-d', 'box', 'true']],
    [['ls']],
    [['ls', '--json']],
    [['info', 'box']],
    [['ps', 'box']],
    [['files', 'ls', 'box']],
    [['cp', 'box:/etc/hostname', '-']],
    [['ports', 'box']],
    [['completion', 'complete', 'zsh', 'exec', '']],
    [['completion', 'complete', 'zsh', 'cp', 'box:/']],
  ])('sbx %j loads no package', (args) => {
    expect(packagesOf(loadedBy(...args))).toEqual([]);
  });

  test('exec, ls and completion load few files, since each costs', () => {
    const own = (args: string[]) => loadedBy(...args).filter((url) => url.includes('/dist/')).length;
    expect(own(['exec', 'box', 'true'])).toBeLessThan(45);
    expect(own(['ls'])).toBeLessThan(45);
    expect(own(['completion', 'complete', 'zsh', 'exec', ''])).toBeLessThan(5);
  });

  test('what changes state loads the lock and nothing else', () => {
    const lock = /^(fs-native-extensions|require-addon|which-runtime|bare-.*)$/;
    expect(packagesOf(loadedBy('run', '--', 'true')).filter((name) => !lock.test(name))).toEqual([]);
  });

  test('a package is loaded by the verb that needs it', () => {
    expect(packagesOf(loadedBy('ls', '--output', 'yaml'))).toEqual(['yaml']);
  });
});

describe('with a sandbox at a server', () => {
  let server: BuiltServer;
  beforeAll(async () => {
    server = await builtServer(join(folder, 'served'));
    const settings = ['--type', 'daemon', '--set', `url=${server.url}`, '--token-env', 'TOKEN'];
    loadedBy('backend', 'add', 'prod', ...settings);
    loadedBy('create', '--backend', 'prod', 'far');
  });
  afterAll(async () => {
    loadedBy('rm', '--force', 'prod/far');
    server.kill('SIGTERM');
    await server.ended;
  });

  test.each([[['exec', 'prod/far', 'true']], [['ls', '--backend', 'prod']]])(
    'sbx %j loads no package, and no file besides the program itself',
    (args) => {
      const loaded = loadedBy(...args);
      expect(packagesOf(loaded)).toEqual([]);
      expect(loaded.filter((url) => url.includes('/dist/'))).toEqual([
        pathToFileURL(join(root, 'dist/run.js')).href,
      ]);
    },
  );
});
