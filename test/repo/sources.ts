/** The sources of the project as data: files, lines and imports. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the project, with a slash at its end. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** One import of a source. */
export interface Import {
  /** A path from `root` for our own files, else what stands there: `node:fs`, `ink`. */
  readonly target: string;
  /** Whether it loads nothing, because only types are taken. */
  readonly isType: boolean;
  readonly isDynamic: boolean;
}

/** One file below src/. */
export interface Source {
  /** From `root`, such as `src/lib/cli/main.ts`. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

/** All files below `folder` with one of these endings, as paths from `root`. */
export function filesBelow(folder: string, ...endings: readonly string[]): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .map((name) => join(folder, name))
    .sort();
}

const STATIC = /^\s*(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]/gm;
const DYNAMIC = /(typeof\s+)?\bimport\(\s*['"]([^'"]+)['"]/g;

function importsOf(path: string, text: string): Import[] {
  const code = text.replace(/^\s*(?:\/\*\*?|\*).*$/gm, '');
  const found = (pattern: RegExp, isDynamic: boolean) =>
    [...code.matchAll(pattern)].map(([, type, name = '']) => ({
      target: name.startsWith('.') ? relative(root, join(root, dirname(path), name)) : name,
      isType: type !== undefined,
      isDynamic,
    }));
  return [...found(STATIC, false), ...found(DYNAMIC, true)];
}

/** Every TypeScript file below src/. */
export const sources: readonly Source[] = filesBelow('src', '.ts', '.tsx').map((path) => {
  const text = readFileSync(join(root, path), 'utf8');
  return { path, text, imports: importsOf(path, text) };
});

/** The code of a source without comments and string literals, so that a word in prose is no use of it. */
export function codeOf({ text }: Source): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|\s)\/\/.*$/gm, '$1')
    .replace(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''");
}
