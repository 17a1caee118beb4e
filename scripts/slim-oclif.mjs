/**
 * Bundler plugin: takes only what parsing needs of @oclif/core.
 *
 * The parser pulls in help rendering, colours, spinners and debug loggers for the sake of a few error messages, and
 * some of those touch process.stdout while loading, which makes descriptor 1 non-blocking for the child that `exec`
 * hands it to. Help goes through the real, unbundled package; the parser gets these stand-ins.
 */
const EMPTY = 'module.exports = {};';

const ERRORS = `
class CLIError extends Error {
  constructor(error, options = {}) {
    super(error instanceof Error ? error.message : error);
    this.name = 'CLIError';
    this.oclif = { exit: options.exit ?? 2 };
  }
}
module.exports = { CLIError };
`;

/** Module of @oclif/core/lib (without extension) → its replacement. */
const stubs = new Map([
  ['errors', ERRORS],
  ['errors/index', ERRORS],
  ['logger', 'module.exports = { makeDebug: () => () => {}, getLogger: () => ({ debug() {} }) };'],
  ['help', EMPTY],
  ['help/index', EMPTY],
  ['parser/help', EMPTY],
  [
    'ux/list',
    "exports.__esModule = true; exports.default = (rows) => rows.map((row) => row.filter(Boolean).join('  ')).join('\\n');",
  ],
  ['ux/theme', 'module.exports = { colorize: (_color, text) => text };'],
  [
    'cache',
    'exports.__esModule = true; exports.default = { getInstance: () => ({ get: () => undefined }) };',
  ],
]);

/** Built-ins that load slowly and that only rare paths of the parser call. */
const lazyBuiltins = {
  'node:readline':
    "exports.createInterface = (...args) => require('node:readline').createInterface(...args);",
  'node:fs/promises': "exports.stat = (...args) => require('node:fs/promises').stat(...args);",
};

const OCLIF = /[\\/]@oclif[\\/]core[\\/]/;
/** What is bundled: parsing is on the way of every command, a tar's header of every `cp`. All else stays imported, mostly lazily. */
const BUNDLED = /^(@oclif\/core\/(parser|flags|args)|tar\/header)$/;

/** @type {import('rolldown').Plugin} */
export const slimOclif = {
  name: 'slim-oclif',
  resolveId(id, importer) {
    if (importer === undefined || /^[./\0]/.test(id) || id.startsWith('sbx:')) return null;
    if (OCLIF.test(importer) && Object.hasOwn(lazyBuiltins, id)) return `\0lazy:${id}`;
    if (BUNDLED.test(id) || (OCLIF.test(importer) && !id.startsWith('node:'))) return null;
    return { id, external: true };
  },
  load(id) {
    if (id.startsWith('\0lazy:')) return { code: lazyBuiltins[id.slice('\0lazy:'.length)], moduleType: 'js' };
    const name = /[\\/]@oclif[\\/]core[\\/]lib[\\/](.*)\.js$/.exec(id)?.[1]?.replaceAll('\\', '/');
    const code = stubs.get(name);
    return code === undefined ? null : { code, moduleType: 'js' };
  },
};
