import type { Tree, TreeEntry } from './tree.ts';

/**
 * The same tree for a tar that sets a directory's mode and time as it reads it (busybox): each directory comes once where
 * it was, open to its owner, and again at the end, deepest first, as it shall be.
 */
export async function* directoriesLast(tree: Tree): Tree {
  const directories = new Map<string, TreeEntry>();
  for await (const event of tree) {
    if (event.kind === 'data' || event.entry.type !== 'directory') {
      yield event;
      continue;
    }
    directories.set(event.entry.path, event.entry);
    yield { kind: 'entry', entry: { ...event.entry, mode: event.entry.mode | 0o700 } };
  }
  for (const entry of deepestFirst(directories.values())) yield { kind: 'entry', entry };
}

/** In an order in which nothing is changed below what is done already. */
export function deepestFirst(directories: Iterable<TreeEntry>): TreeEntry[] {
  const depth = ({ path }: TreeEntry): number => (path === '.' ? 0 : path.split('/').length);
  return [...directories].sort((a, b) => depth(b) - depth(a));
}
