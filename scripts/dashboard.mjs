/** Builds the dashboard: its modules as one, its styles as one, and the files that go with it as they are. */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const PAGE = 'src/lib/server/dashboard/page';

/** Loaded when the first terminal is opened: name in the page's modules → name beside the page, and where it lies. */
const LATER = {
  '@xterm/xterm': { name: 'xterm.mjs', path: 'lib/xterm.mjs' },
  '@xterm/addon-fit': { name: 'addon-fit.mjs', path: 'lib/addon-fit.mjs' },
};

/** In the order in which one goes before another. */
const STYLES = ['base', 'controls', 'frame', 'detail', 'terminal', 'browser', 'details', 'dialogs', 'narrow'];

const beside = {
  name: 'beside',
  resolveId: (id) => (id in LATER ? { id: `./${LATER[id].name}`, external: true } : null),
};

/** Writes all of it to `folder`. */
export async function buildDashboard(folder) {
  const build = await rolldown({
    input: `${PAGE}/main.ts`,
    platform: 'browser',
    plugins: [beside],
    transform: { target: 'es2023' },
  });
  await build.write({ dir: folder, format: 'esm', entryFileNames: 'page.js', minify: true });
  await build.close();
  await mkdir(folder, { recursive: true });
  const styles = await Promise.all(STYLES.map((name) => readFile(`${PAGE}/style/${name}.css`, 'utf8')));
  await writeFile(join(folder, 'page.css'), styles.join('\n'));
  await Promise.all([
    ...['index.html', 'icon.svg'].map((name) => copyFile(`${PAGE}/${name}`, join(folder, name))),
    ...Object.entries(LATER).map(([id, { name, path }]) => copyFile(within(id, path), join(folder, name))),
    copyFile(within('@xterm/xterm', 'css/xterm.css'), join(folder, 'xterm.css')),
    copyFile(within('@xterm/xterm', 'LICENSE'), join(folder, 'xterm-license.txt')),
  ]);
}

/** A file of a package. */
function within(id, path) {
  return fileURLToPath(new URL(`../node_modules/${id}/${path}`, import.meta.url));
}
