/**
 * Builds dist/ and oclif.manifest.json: dist/run.js with the table of all commands, a module a command, chunks, and
 * the dashboard of the server. All that the fast verbs need is in one chunk: a file costs more to find and open than to
 * run. Two passes, because the aliases for the table stand in the command classes, and because the first one says what
 * needs what.
 */
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { completionOf } from './completions.mjs';
import { buildDashboard } from './dashboard.mjs';
import { lazyBuiltins } from './lazy-builtins.mjs';
import { manifestOf } from './manifest.mjs';
import { slimOclif } from './slim-oclif.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const { version, oclif } = JSON.parse(await readFile('package.json', 'utf8'));

/** What the fast verbs run, modules that they import at run time included. */
const FAST = [
  'src/lib/cli/start.ts',
  'src/commands/completion/complete.ts',
  'src/commands/exec.ts',
  'src/commands/ls.ts',
  'src/commands/run.ts',
  'src/lib/backend/registry.ts',
  'src/lib/backends/catalog.ts',
  'src/lib/backends/daemon/exec.ts',
  'src/lib/backends/daemon/index.ts',
  'src/lib/backends/docker/index.ts',
  'src/lib/backends/local/index.ts',
  'src/lib/store/config.ts',
];

const commands = (await readdir('src/commands', { recursive: true }))
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
  .sort()
  .map((file) => ({ file: `src/commands/${file.split(sep).join('/')}`, id: idOf(file) }));

function idOf(file) {
  const words = file.replace(/\.tsx?$/, '').split(sep);
  if (words.at(-1) === 'index') words.pop();
  return words.join(':');
}

/** Programs of their own, which sbx starts beside itself. */
const programs = (await readdir('src/lib', { recursive: true }))
  .filter((file) => file.endsWith('.entry.ts'))
  .map((file) => `src/lib/${file.split(sep).join('/')}`);

/** Name of the built file → source. */
const entries = (files) =>
  Object.fromEntries(files.map((file) => [file.replace(/^src\//, '').replace(/\.tsx?$/, ''), file]));

/** Writes the modules of `input` to `folder`. `fast` tells what goes into the one chunk. */
async function bundle(folder, input, { plugins = [], fast = () => false } = {}) {
  const build = await rolldown({
    input,
    platform: 'node',
    plugins: [slimOclif, ...plugins],
    moduleTypes: { '.sh': 'text', '.py': 'text', '.txt': 'text' },
    transform: { define: { SBX_VERSION: JSON.stringify(version) }, target: 'node22' },
    // A module that is imported both ways is what FAST asks for.
    checks: { ineffectiveDynamicImport: false },
  });
  await build.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name].js',
    // The chunk of the fast verbs is the program itself.
    chunkFileNames: ({ name }) => (name === 'fast' ? 'run.js' : 'chunks/[name]-[hash].js'),
    codeSplitting: { groups: [{ name: 'fast', test: fast }] },
    // The bundled CommonJS requires built-ins only.
    banner: 'const require = process.getBuiltinModule;',
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  });
  await build.close();
}

const temporary = await mkdtemp('.build-');
try {
  const imports = new Map();
  const graph = { name: 'graph', moduleParsed: ({ id, importedIds }) => void imports.set(id, importedIds) };
  const files = commands.map(({ file }) => file);
  await bundle(
    `${temporary}/probe`,
    entries([...files, ...FAST, 'src/lib/cli/flags.ts', 'src/lib/cli/suggest.ts']),
    {
      plugins: [graph],
    },
  );
  const classes = await Promise.all(
    commands.map(async ({ file, id }) => ({ id, Class: (await probe(file)).default })),
  );
  const fast = new Set();
  const reach = (id) => {
    if (fast.has(id)) return;
    fast.add(id);
    for (const each of imports.get(id) ?? []) reach(each);
  };
  for (const file of FAST) reach(join(root, file));
  await bundle(
    `${temporary}/dist`,
    { ...entries([...files, ...programs]), facade: 'sbx:run' },
    {
      plugins: [runEntry(tableSource(classes, fast)), importsAtHand(fast)],
      fast: (id) => fast.has(id) || id.startsWith('\0'),
    },
  );
  await rm(`${temporary}/dist/facade.js`);
  for (const file of await readdir(`${temporary}/dist`, { recursive: true })) {
    if (!file.endsWith('.js')) continue;
    const path = `${temporary}/dist/${file}`;
    await writeFile(path, inAscii(lazyBuiltins(await readFile(path, 'utf8'))));
  }
  await inlineRuntime(`${temporary}/dist`);
  await buildDashboard(`${temporary}/dist/dashboard`);
  const [{ allFlags, baseFlags }, { usageLine }] = await Promise.all(
    ['flags', 'suggest'].map((name) => probe(`src/lib/cli/${name}.ts`)),
  );
  const manifest = manifestOf(classes, { allFlags, usageLine, version });
  const completion = completionOf(manifest, { baseFlags, topics: oclif.topics });
  await writeFile(`${temporary}/dist/completion.json`, `${JSON.stringify(completion)}\n`);
  await rm('dist', { recursive: true, force: true });
  await rename(`${temporary}/dist`, 'dist');
  await writeFile('oclif.manifest.json', `${JSON.stringify(manifest, null, 2)}\n`);
} finally {
  await rm(temporary, { recursive: true, force: true });
}

/** Node decodes a module that is not plain ASCII ten times slower; the sources have such signs in strings alone. */
function inAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Puts the bundler's own few functions into run.js: a file of their own would be one more to find and open. */
async function inlineRuntime(folder) {
  const path = `${folder}/run.js`;
  const code = await readFile(path, 'utf8');
  const [statement, list, file] =
    /import\s*\{([^}]*)\}\s*from\s*["']\.\/(chunks\/rolldown-runtime-[\w-]+\.js)["'];?/.exec(code) ?? [];
  if (statement === undefined) throw new Error('run.js imports no runtime of the bundler');
  const runtime = (await readFile(`${folder}/${file}`, 'utf8')).replace(/^const require\s*=[^;]*;/, '');
  const own = names(/export\s*\{([^}]*)\};?\s*$/.exec(runtime)?.[1]);
  for (const [exported, local] of Object.entries(names(list))) {
    const original = Object.keys(own).find((name) => own[name] === exported);
    if (original !== local) throw new Error(`the runtime's ${exported} is called ${local} in run.js`);
  }
  await writeFile(
    path,
    code.replace(statement, () => runtime.replace(/export\s*\{[^}]*\};?\s*$/, '')),
  );
}

/** `a as b,c` → { a: 'b', c: 'c' } */
function names(list = '') {
  return Object.fromEntries(
    list.split(',').map((each) => {
      const [name, as = name] = each.trim().split(/\s+as\s+/);
      return [name, as];
    }),
  );
}

/** The built form of a source file of the first pass. */
function probe(file) {
  return import(
    pathToFileURL(`${temporary}/probe/${file.replace(/^src\//, '').replace(/\.tsx?$/, '.js')}`).href
  );
}

/** The source of the command table. @throws Error when two commands answer to one name. */
function tableSource(classes, fast) {
  const taken = new Set(commands.map(({ id }) => id));
  const aliases = {};
  for (const { id, Class } of classes) {
    for (const alias of Class.aliases ?? []) {
      const name = alias.replaceAll(' ', ':');
      if (taken.has(name)) throw new Error(`two commands are called ${alias}`);
      taken.add(name);
      aliases[name] = id;
    }
  }
  const source = (file) => JSON.stringify(join(root, file));
  const atHand = commands.filter(({ file }) => fast.has(join(root, file)));
  const loaders = commands.map(({ file, id }) => {
    const index = atHand.findIndex((each) => each.file === file);
    return `${JSON.stringify(id)}: () => ${index < 0 ? `import(${source(file)})` : `Promise.resolve(command${index})`}`;
  });
  return `
    import { start } from ${source('src/lib/cli/start.ts')};
    ${atHand.map(({ file }, index) => `import * as command${index} from ${source(file)};`).join('\n')}
    // Not awaited: modules of commands import this one, and would wait for it.
    start({
      root: import.meta.dirname + '/..',
      commands: { ${loaders.join(', ')} },
      aliases: ${JSON.stringify(aliases)},
    });`;
}

/** Modules that come with the fast chunk anyway are not imported at run time: that would take a file of its own. */
function importsAtHand(fast) {
  return {
    name: 'imports-at-hand',
    transform(code, id) {
      if (!fast.has(id) || !id.startsWith(join(root, 'src'))) return null;
      const statics = [];
      const changed = code.replace(/\bimport\(\s*'(\.[^']+)'\s*\)/g, (all, path) => {
        if (!fast.has(join(dirname(id), path))) return all;
        statics.push(`import * as atHand${statics.length} from ${JSON.stringify(path)};`);
        return `Promise.resolve(atHand${statics.length - 1})`;
      });
      return statics.length === 0
        ? null
        : { code: `${statics.join('')}${changed}`, moduleType: 'ts', map: null };
    },
  };
}

function runEntry(code) {
  return {
    name: 'run-entry',
    resolveId: (id) => (id === 'sbx:run' ? '\0sbx:run' : null),
    load: (id) => (id === '\0sbx:run' ? { code, moduleType: 'ts' } : null),
  };
}

process.stderr.write(`built ${commands.length} commands into ${relative('.', 'dist')}/\n`);
