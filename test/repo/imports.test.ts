/** Which part of the program may know which: the rules of docs/architecture.md, held by the import graph. */
import { expect, test } from 'vitest';
import { codeOf, type Import, type Source, sources } from './sources.ts';

/** What each room may load, besides itself and `errors.ts`. */
const MAY_LOAD: Readonly<Record<string, readonly string[]>> = {
  commands: ['cli', 'ops', 'ui', 'backend', 'store', 'server', 'util'],
  cli: ['ops', 'ui', 'backend', 'backends', 'store', 'util'],
  ops: ['backend', 'session', 'store', 'transport', 'guest', 'util'],
  ui: ['util'],
  backend: ['guest', 'store', 'transport', 'util'],
  backends: ['backend', 'wire', 'transport', 'guest', 'store', 'util'],
  guest: ['util'],
  session: ['wire', 'util'],
  transport: ['wire', 'util'],
  store: ['util'],
  agent: ['wire', 'transport', 'guest', 'ops', 'util'],
  server: ['backend', 'ops', 'store', 'wire', 'transport', 'guest', 'util'],
  worker: ['wire', 'transport', 'guest', 'ops', 'util'],
  wire: [],
  util: [],
};

/** Whose types a room may name besides: they load nothing. */
const MAY_NAME: Readonly<Record<string, readonly string[]>> = {
  // Streams, signals and the context are interfaces that ops are handed.
  ops: ['cli'],
  ui: ['backend', 'ops'],
  guest: ['backend'],
  session: ['backend'],
  transport: ['backend'],
  store: ['backend'],
};

/** Single files that hold words of the contract and are pure. */
const PURE = ['src/lib/backend/pick-process.ts', 'src/lib/ops/forward/types.ts'];

/** The first folder: `src/lib/ops/copy/copy.ts` is in ops. */
function roomOf(path: string): string {
  return /^src\/(?:lib\/)?([^/]+)\//.exec(path)?.[1] ?? path;
}

function offences(check: (source: Source, target: Import) => boolean): string[] {
  return sources.flatMap((source) =>
    source.imports
      .filter((target) => check(source, target))
      .map(({ target }) => `${source.path} imports ${target}`),
  );
}

const isOurs = ({ target }: Import) => target.startsWith('src/');

test('the graph is read', () => {
  expect(sources.length).toBeGreaterThan(200);
  expect(sources.flatMap(({ imports }) => imports).length).toBeGreaterThan(800);
  expect(sources.find(({ path }) => path === 'src/lib/cli/main.ts')?.imports).toContainEqual({
    target: 'src/lib/cli/help.ts',
    isType: false,
    isDynamic: true,
  });
});

test('every room knows only those below it', () => {
  expect(
    offences(({ path }, target) => {
      if (!isOurs(target)) return false;
      const from = roomOf(path);
      const to = roomOf(target.target);
      if (from === to || target.target === 'src/lib/errors.ts' || PURE.includes(target.target)) return false;
      if (target.isType && MAY_NAME[from]?.includes(to)) return false;
      return !MAY_LOAD[from]?.includes(to);
    }),
  ).toEqual([]);
});

test('errors.ts imports nothing of ours', () => {
  expect(offences(({ path }, target) => path === 'src/lib/errors.ts' && isOurs(target))).toEqual([]);
});

test('no backend imports another', () => {
  const backendOf = (path: string) => /^src\/lib\/backends\/([^/]+)\//.exec(path)?.[1];
  expect(
    offences(({ path }, { target }) => {
      const own = backendOf(path);
      const other = backendOf(target);
      return own !== undefined && other !== undefined && own !== other;
    }),
  ).toEqual([]);
});

test('only the catalog loads backends, and their code only when one is opened', () => {
  expect(
    offences(({ path }, { target, isDynamic }) => {
      if (path.startsWith('src/lib/backends/') && path !== 'src/lib/backends/catalog.ts') return false;
      if (!/^src\/lib\/backends\/[^/]+\//.test(target)) return false;
      return path !== 'src/lib/backends/catalog.ts' || !(isDynamic || target.endsWith('/manifest.ts'));
    }),
  ).toEqual([]);
});

test('oclif and prompts are known to cli alone', () => {
  const library = /^(@oclif|@inquirer)\//;
  expect(
    offences(({ path }, { target }) => library.test(target) && !path.startsWith('src/lib/cli/')),
  ).toEqual([]);
});

test('heavy packages are imported when they are needed and not before', () => {
  const light = ['@oclif/core/args', '@oclif/core/flags', '@oclif/core/parser'];
  const isPackage = (target: string) => !target.startsWith('src/') && !target.startsWith('node:');
  // Each of these is itself reached by a dynamic import alone, or is small; start-up.test.ts holds what that adds up to.
  const lazyAlready = [
    'src/lib/store/config-write.ts',
    'src/lib/store/lock.ts',
    'src/lib/ops/copy/select.ts',
    'src/lib/ops/copy/tar-decode.ts',
    'src/lib/ops/copy/tar-encode.ts',
  ];
  expect(
    offences(
      ({ path }, { target, isDynamic, isType }) =>
        isPackage(target) &&
        !isDynamic &&
        !isType &&
        !light.includes(target) &&
        !lazyAlready.includes(path) &&
        !isScreen(path) &&
        !isServer(path),
    ),
  ).toEqual([]);
});

/** Full screens: React and what draws it. */
const isScreen = (path: string) => path.startsWith('src/lib/ui/tui/');

test('full screens are loaded when one is drawn and not before', () => {
  const packages = new Set(['ink', 'react', '@xterm/headless']);
  expect(
    offences(({ path }, { target, isDynamic, isType }) => {
      if (isType || isDynamic || isScreen(path)) return false;
      return packages.has(target) || (isScreen(target) && /\.tsx$/.test(target));
    }),
  ).toEqual([]);
});

/** The daemon: its router, its schemas and what else only `sbx serve` needs. */
const isServer = (path: string) => path.startsWith('src/lib/server/');

test('the server is loaded by sbx serve when it serves and not before', () => {
  expect(
    offences(
      ({ path }, { target, isType, isDynamic }) =>
        isServer(target) && !isServer(path) && !isType && !isDynamic,
    ),
  ).toEqual([]);
});

test('files do not load each other in a circle', () => {
  const graph = new Map(
    sources.map(({ path, imports }) => [
      path,
      imports.filter((each) => isOurs(each) && !each.isType && !each.isDynamic).map(({ target }) => target),
    ]),
  );
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (path: string, trail: readonly string[]) => {
    if (trail.includes(path)) circles.push([...trail.slice(trail.indexOf(path)), path].join(' → '));
    if (trail.includes(path) || done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  expect(circles).toEqual([]);
});

test('the process itself is touched in cli and in the mains of programs only', () => {
  const touch = /\bprocess\.(env|argv|execArgv|stdin|stdout|stderr|exit|exitCode|cwd|chdir)\b|\bconsole\./;
  const allowed = (path: string) => path.startsWith('src/lib/cli/') || path.endsWith('.entry.ts');
  expect(
    sources.filter((source) => !allowed(source.path) && touch.test(codeOf(source))).map(({ path }) => path),
  ).toEqual([]);
});
