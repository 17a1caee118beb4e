/**
 * Rewrites the static imports of Node's built-ins in built modules.
 *
 * Importing `node:fs` as an ES module reads every export once, and its getters load fs/promises, streams and readline:
 * several milliseconds before the first line of ours. `process.getBuiltinModule` takes the module object alone. Those
 * that few commands use are not even taken before the first call of one of their functions.
 */

const IMPORT = /import\s*([^"';()]+?)\s*from\s*["'`](node:[\w/]+)["'`];?\n?/y;
/** What may stand between imports: the banner, other imports, directives of the bundler. */
const OTHER =
  /(?:const require\s*=\s*process\.getBuiltinModule;|import\s*(?:[^"';()]+?\s*from\s*)?["'][^"']+["'];?|\/\/[^\n]*\n|\s+)/y;

const SELDOM = new Set([
  'node:child_process',
  'node:crypto',
  'node:fs/promises',
  'node:net',
  'node:os',
  'node:readline',
  'node:stream',
  'node:stream/consumers',
  'node:stream/promises',
  'node:timers/promises',
  'node:tls',
]);

/** @param code one module as the bundler prints it. @returns the same module without imports of built-ins. */
export function lazyBuiltins(code) {
  const taken = [];
  let kept = '';
  let at = 0;
  for (;;) {
    IMPORT.lastIndex = at;
    OTHER.lastIndex = at;
    const builtin = IMPORT.exec(code);
    if (builtin !== null) {
      const [all, clause, name] = builtin;
      taken.push(...bindings(clause, name));
      at += all.length;
      continue;
    }
    const other = OTHER.exec(code);
    if (other === null) break;
    kept += other[0];
    at += other[0].length;
  }
  // First in the module, where imports are evaluated too.
  return `${kept}${taken.join('\n')}${taken.length > 0 ? '\n' : ''}${code.slice(at)}`;
}

function bindings(clause, name) {
  const source = `process.getBuiltinModule(${JSON.stringify(name)})`;
  const [, whole, names] = /^(\w[\w$]*|\*\s*as\s+[\w$]+)?\s*,?\s*(?:\{([^}]*)\})?$/.exec(clause) ?? [];
  if (whole === undefined && names === undefined) throw new Error(`cannot rewrite import ${clause}`);
  const all = [];
  if (whole !== undefined) all.push(`var ${whole.replace(/^\*\s*as\s+/, '')} = ${source};`);
  for (const each of names?.split(',') ?? []) {
    const [imported, local = imported] = each.trim().split(/\s+as\s+/);
    if (imported === '') continue;
    all.push(`var ${local} = ${SELDOM.has(name) ? later(source, imported) : `${source}.${imported}`};`);
  }
  return all;
}

/** A function or, by its capital, a class that stands for the real one until it is used; `constants` is neither. */
function later(source, imported) {
  if (imported === 'constants') return `${source}.constants`;
  if (/^[a-z]/.test(imported)) return `(...args) => ${source}.${imported}(...args)`;
  const construct = `(_, args, target) => Reflect.construct(${source}.${imported}, args, target)`;
  return `new Proxy(function () {}, { construct: ${construct}, get: (_, key) => ${source}.${imported}[key] })`;
}
