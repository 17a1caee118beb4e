/** What npm publishes, and that it works alone. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { filesBelow, root } from './sources.ts';

const folder = mkdtempSync(join(tmpdir(), 'sbx-package-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

let packed: Packed;
let paths: string[];
beforeAll(() => {
  // dist/ is built before the tests; building it again would pull it from under those that run beside this.
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const env = { ...process.env, HOME: folder, TMPDIR: folder, npm_config_cache: join(folder, 'cache') };
  const [first] = JSON.parse(
    execFileSync('npm', args, { cwd: root, encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'ignore'] }),
  ) as Packed[];
  if (first === undefined) throw new Error('npm pack packed nothing');
  packed = first;
  paths = first.files.map(({ path }) => path);
});

test('it holds the program, its licence and its documents, and nothing else', () => {
  const wanted =
    /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|oclif\.manifest\.json|bin\/run\.js|dist\/.*\.js|dist\/completion\.json|dist\/dashboard\/[\w-]+\.(html|css|svg|mjs|txt)|docs\/.*\.md|docs\/systemd\/sbx\.(service|socket)|completions\/[^/]+)$/;
  expect(paths.filter((path) => !wanted.test(path))).toEqual([]);
  for (const path of ['README.md', 'LICENSE', 'CHANGELOG.md', 'docs/architecture.md', 'docs/security.md'])
    expect(paths).toContain(path);
});

test('it holds every command and program of ours', () => {
  const built = [...filesBelow('src/commands', '.ts', '.tsx'), ...filesBelow('src/lib', '.entry.ts')].map(
    (path) => path.replace(/^src/, 'dist').replace(/\.tsx?$/, '.js'),
  );
  const dashboard = ['index.html', 'page.js', 'xterm.mjs'].map((name) => `dist/dashboard/${name}`);
  const completion = ['completions/_sbx', 'completions/sbx.bash', 'dist/completion.json'];
  for (const path of [
    'bin/run.js',
    'dist/run.js',
    'oclif.manifest.json',
    ...completion,
    ...dashboard,
    ...built,
  ])
    expect(paths).toContain(path);
  expect(packed.files.find(({ path }) => path === 'bin/run.js')?.mode).toBe(0o755);
});

test('it is small', () => {
  expect(packed.unpackedSize).toBeLessThan(3_000_000);
});

describe('installed in an empty folder, with what it depends on and nothing that only its makers need', () => {
  const home = join(folder, 'home');
  const installed = join(folder, 'app/node_modules/sbx-cli');
  beforeAll(() => {
    mkdirSync(home);
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', join(folder, packed.filename), '--strip-components=1', '-C', installed]);
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: boolean; optional?: boolean; devOptional?: boolean }>;
    };
    const needed = Object.entries(packages)
      .filter(([path, { dev, optional, devOptional }]) => path !== '' && !dev && !optional && !devOptional)
      .map(([path]) => path)
      // Those inside another package come with it.
      .filter((path) => path.split('node_modules/').length === 2);
    const copy = (how: string) =>
      spawnSync('cp', [how, '--parents', ...needed, join(folder, 'app')], { cwd: root }).status;
    // Links cost nothing, where both folders are on one file system.
    expect(copy('-al') === 0 || copy('-a') === 0).toBe(true);
  }, 60_000);

  function sbx(...args: string[]): string {
    return execFileSync(process.execPath, [join(installed, 'bin/run.js'), ...args], {
      cwd: home,
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: home },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  test('it runs', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(sbx('--version')).toBe(`sbx ${version}\n`);
    expect(sbx('exec', '--help')).toContain('Usage:');
    expect(sbx('completion', 'bash')).toContain('complete -F _sbx sbx');
    expect(sbx('completion', 'complete', 'fish', 'snap')).toContain('snapshot\t');
  });

  test('it finds the packages that it loads late', () => {
    sbx('config', 'set', 'defaults.memory', '1g');
    expect(sbx('config', 'get', 'defaults.memory')).toBe('1g\n');
    expect(sbx('config', 'ls', '--output', 'yaml')).toContain('1g');
    expect(sbx('ls', '--all', '--json').trim()).toBe('[]');
  });
});
