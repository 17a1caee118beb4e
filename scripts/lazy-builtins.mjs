/**
 * Rewrites static imports of Node's built-ins in built modules into calls of `process.getBuiltinModule`.
 *
 * Importing `node:fs` as an ES module reads every export once, and its getters load fs/promises, streams and readline:
 * several milliseconds before the first line of ours. Taking the module object loads what is used.
 */

const IMPORT = /^import\s+([^"';]+?)\s+from\s*"(node:[\w/]+)";\n?/gm;

/** @param code one module as esbuild prints it. @returns the same module without imports of built-ins. */
export function lazyBuiltins(code) {
  const taken = [];
  const rest = code.replace(IMPORT, (_all, clause, name) => {
    taken.push(...bindings(clause, `process.getBuiltinModule(${JSON.stringify(name)})`));
    return '';
  });
  // First in the module, where imports are evaluated too.
  return taken.length === 0 ? rest : `${taken.join('\n')}\n${rest}`;
}

function bindings(clause, source) {
  const [, whole, names] = /^(\w[\w$]*|\*\s+as\s+[\w$]+)?\s*,?\s*(?:\{([^}]*)\})?$/.exec(clause) ?? [];
  if (whole === undefined && names === undefined) throw new Error(`cannot rewrite import ${clause}`);
  const all = [];
  if (whole !== undefined) all.push(`var ${whole.replace(/^\*\s+as\s+/, '')} = ${source};`);
  if (names !== undefined) all.push(`var {${names.replace(/(\w)\s+as\s+/g, '$1: ')}} = ${source};`);
  return all;
}
