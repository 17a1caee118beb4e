/**
 * Builds dist/ and oclif.manifest.json: one ES module a command with shared chunks, and dist/run.js, which holds the
 * table of all commands. Two passes, because aliases stand in the command classes and the table needs them.
 */
import { mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as esbuild from 'esbuild';
import { lazyBuiltins } from './lazy-builtins.mjs';
import { manifestOf } from './manifest.mjs';
import { externals, slimOclif } from './slim-oclif.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const { version } = JSON.parse(await readFile('package.json', 'utf8'));

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

/** @returns {import('esbuild').BuildOptions} */
function options(outdir) {
  return {
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    outdir,
    outbase: 'src',
    chunkNames: 'chunks/[name]-[hash]',
    loader: { '.sh': 'text' },
    define: { SBX_VERSION: JSON.stringify(version) },
    plugins: [externals, slimOclif],
    logLevel: 'warning',
    // The bundled CommonJS requires built-ins only.
    banner: { js: 'const require = process.getBuiltinModule;' },
  };
}

const temporary = await mkdtemp('.build-');
try {
  await esbuild.build({
    ...options(`${temporary}/probe`),
    entryPoints: [...commands.map(({ file }) => file), 'src/lib/cli/flags.ts'],
  });
  const classes = await Promise.all(
    commands.map(async ({ file, id }) => {
      const built = file.replace(/^src/, `${temporary}/probe`).replace(/\.tsx?$/, '.js');
      return { id, Class: (await import(pathToFileURL(built).href)).default };
    }),
  );
  await esbuild.build({
    ...options(`${temporary}/dist`),
    entryPoints: [...commands.map(({ file }) => file), ...programs, { in: 'sbx:run', out: 'run' }],
    plugins: [externals, slimOclif, runEntry(tableSource(classes))],
  });
  for (const file of await readdir(`${temporary}/dist`, { recursive: true })) {
    if (!file.endsWith('.js')) continue;
    const path = `${temporary}/dist/${file}`;
    await writeFile(path, lazyBuiltins(await readFile(path, 'utf8')));
  }
  const { allFlags } = await import(pathToFileURL(`${temporary}/probe/lib/cli/flags.js`).href);
  const manifest = manifestOf(classes, allFlags, version);
  await rm('dist', { recursive: true, force: true });
  await rename(`${temporary}/dist`, 'dist');
  await writeFile('oclif.manifest.json', `${JSON.stringify(manifest, null, 2)}\n`);
} finally {
  await rm(temporary, { recursive: true, force: true });
}

/** The source of the command table. @throws Error when two commands answer to one name. */
function tableSource(classes) {
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
  const loaders = commands.map(
    ({ file, id }) => `${JSON.stringify(id)}: () => import(${JSON.stringify(`./${file}`)})`,
  );
  return `
    import { start } from './src/lib/cli/start.ts';
    await start({
      root: import.meta.dirname + '/..',
      commands: { ${loaders.join(', ')} },
      aliases: ${JSON.stringify(aliases)},
    });`;
}

function runEntry(contents) {
  return {
    name: 'run-entry',
    setup(build) {
      build.onResolve({ filter: /^sbx:run$/ }, ({ path }) => ({ path, namespace: 'sbx' }));
      build.onLoad({ filter: /.*/, namespace: 'sbx' }, () => ({ contents, loader: 'ts', resolveDir: root }));
    },
  };
}

process.stderr.write(`built ${commands.length} commands into ${relative('.', 'dist')}/\n`);
