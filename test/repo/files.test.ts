/** What no file of the repository may hold, and that documents point to what there is. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './sources.ts';

const IGNORED = /^(node_modules|dist|coverage|\.git|\.build-.*|oclif\.manifest\.json|.*\.tgz)$/;

/** Everything that belongs to the repository. */
function filesOf(folder = ''): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !IGNORED.test(name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesOf(path) : [path];
    });
}

const files = filesOf().filter((path) => !/\.(png|gif|ico|bin|gz)$/.test(path));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const itself = join('test', 'repo', 'files.test.ts');

test('no file names a folder of one machine or a registry', () => {
  const places = [
    /(?<![\w.-])\/work\/(main|shared)\b/,
    /\bregistry\.(npmjs|yarnpkg|npmmirror)\b/,
    /\/\/[\w.-]*(artifactory|verdaccio|nexus)\b/,
  ];
  const found = files
    .filter((path) => path !== itself)
    .flatMap((path) => {
      const text = read(path);
      if (text.includes(root)) return [`${path}: ${root}`];
      return places.flatMap((place) => (place.test(text) ? [`${path}: ${place.exec(text)?.[0]}`] : []));
    });
  expect(found).toEqual([]);
});

test('the lock file pins versions and content, not where they came from', () => {
  const lock = JSON.parse(read('package-lock.json')) as {
    packages: Record<string, { resolved?: string; integrity?: string; version?: string; link?: boolean }>;
  };
  const others = Object.entries(lock.packages).filter(([path]) => path !== '');
  expect(others.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
  expect(others.filter(([, { integrity }]) => integrity === undefined).map(([path]) => path)).toEqual([]);
});

test('dependencies are exact', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<
    'dependencies' | 'devDependencies',
    Record<string, string>
  >;
  const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
  );
  expect(loose).toEqual([]);
});

test('links in documents point to what there is', () => {
  const lost = files
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      [...read(path).matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target = '']) => target.split('#')[0] ?? '')
        .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
        .filter((target) => !existsSync(join(root, dirname(path), target)))
        .map((target) => `${path}: ${target}`),
    );
  expect(lost).toEqual([]);
});

test('paths that documents and comments name are there', () => {
  const named = /(?<![\w./@-])((?:src|test|docs|scripts|bench)\/[\w./-]+\.(?:ts|tsx|sh|mjs|md))\b/g;
  const lost = files
    .filter((path) => /\.(md|ts|tsx|mjs|sh)$/.test(path) && path !== itself)
    .flatMap((path) =>
      [...read(path).matchAll(named)]
        // In capitals: whatever it will be called.
        .filter(([, target = '']) => !/[A-Z]{4}/.test(target) && !existsSync(join(root, target)))
        .map(([, target]) => `${path}: ${target}`),
    );
  expect(lost).toEqual([]);
});

test('CI runs the two commands of the README', () => {
  for (const command of ['npm ci && npx sbx run -- uname -a', 'npm test']) {
    expect(read('README.md')).toContain(command);
    expect(read('.ci/run')).toContain(command);
  }
});

test('text ends with a line break', () => {
  const cut = files.filter(
    (path) => /\.(ts|tsx|mjs|js|json|sh|md|txt)$/.test(path) && !/\n$|^$/.test(read(path)),
  );
  expect(cut).toEqual([]);
});
