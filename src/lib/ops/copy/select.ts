/** Which entries of a tree are copied: `--exclude` and `--gitignore`, both in the language of a .gitignore. */
import { readFile, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Ignore } from 'ignore';
import { hasErrno, SbxError } from '../../errors.ts';
import type { RawEvent } from './tree.ts';

/** Decides by the path below the source. Asked for a directory before anything in it. */
export interface Selection {
  leavesOut(path: string, isDirectory: boolean): boolean;
  /** Told of each directory before its entries: reads its .gitignore. `below` is `''` for the top. */
  enter?(directory: string, below: string): Promise<void>;
}

/** Everything. */
export const ALL: Selection = { leavesOut: () => false };

/** Leaves out what matches `patterns`; later ones win, `!` takes back. */
export async function excluding(patterns: readonly string[]): Promise<Selection> {
  if (patterns.length === 0) return ALL;
  const rules = (await ignoreLibrary()).add([...patterns]);
  return { leavesOut: (path, isDirectory) => matches(rules, path, isDirectory) === 'ignored' };
}

/**
 * Leaves out what git would ignore at `source`: the .gitignore files in it, and those above it up to the top of its
 * repository, deeper ones winning. On top of `base`.
 */
export async function gitignored(source: string, base: Selection): Promise<Selection> {
  const rules = new Map<string, Ignore>();
  const load = async (directory: string): Promise<void> => {
    const text = await readText(join(directory, '.gitignore'));
    if (text !== undefined) rules.set(directory, (await ignoreLibrary()).add(text));
  };
  for (const directory of await upToRepository(source)) await load(directory);
  return {
    leavesOut(path, isDirectory) {
      if (base.leavesOut(path, isDirectory)) return true;
      const full = join(source, path);
      for (let directory = dirname(full); ; directory = dirname(directory)) {
        const found = rules.get(directory);
        const verdict =
          found === undefined ? 'unsaid' : matches(found, relative(directory, full), isDirectory);
        if (verdict !== 'unsaid') return verdict === 'ignored';
        if (directory === dirname(directory)) return false;
      }
    },
    async enter(directory, below) {
      await base.enter?.(directory, below);
      await load(join(source, below));
    },
  };
}

/** The events of a tree without what `selection` leaves out; paths are below `top` when it is given. */
export async function* selected(
  events: AsyncIterable<RawEvent>,
  selection: Selection,
  top: string | undefined,
): AsyncGenerator<RawEvent, void, void> {
  let skipping = false;
  for await (const event of events) {
    if (event.kind === 'entry') {
      const path = below(event.entry.path, top);
      skipping = path !== undefined && leavesOutWithin(selection, path, event.entry.type === 'directory');
    }
    if (!skipping) yield event;
  }
}

/** As an archive may name a file without its folders, each folder above it is asked for too. */
function leavesOutWithin(selection: Selection, path: string, isDirectory: boolean): boolean {
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    if (selection.leavesOut(path.slice(0, slash), true)) return true;
  }
  return selection.leavesOut(path, isDirectory);
}

/** The path that patterns apply to; undefined for the top itself and for what the gate is going to refuse. */
function below(path: string, top: string | undefined): string | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  if (path.startsWith('/') || parts.includes('..')) return undefined;
  return (top === undefined ? parts : parts.slice(1)).join('/') || undefined;
}

function matches(rules: Ignore, path: string, isDirectory: boolean): 'ignored' | 'kept' | 'unsaid' {
  const { ignored, unignored } = rules.test(isDirectory ? `${path}/` : path);
  if (ignored) return 'ignored';
  return unignored ? 'kept' : 'unsaid';
}

async function ignoreLibrary(): Promise<Ignore> {
  const { default: ignore } = await import('ignore');
  return ignore({ ignorecase: false, allowRelativePaths: true });
}

/** The directories above `source`, from the nearest up to the one with `.git`; none outside a repository. */
async function upToRepository(source: string): Promise<string[]> {
  const found: string[] = [];
  for (let directory = source; ; directory = dirname(directory)) {
    if (directory !== source) found.push(directory);
    if (await exists(join(directory, '.git'))) return found;
    if (directory === dirname(directory)) return [];
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (cause) {
    if (hasErrno(cause, 'ENOENT', 'ENOTDIR', 'EACCES')) return false;
    throw cause;
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (hasErrno(cause, 'ENOENT', 'EISDIR', 'ENOTDIR')) return undefined;
    throw new SbxError('failed', `cannot read '${path}'`, { cause });
  }
}
