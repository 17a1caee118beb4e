import type { RawEvent } from './tree.ts';

/**
 * The same tree under another name. `contents`: `name` goes in front of each path, and `.` becomes `name`; `single`: the one
 * entry is called `name`. What has no place there keeps its path, for the gate to refuse.
 */
export async function* retop(
  events: AsyncIterable<RawEvent>,
  from: 'contents' | 'single',
  name: string,
): AsyncGenerator<RawEvent, void, void> {
  const rename = (path: string): string => {
    if (path.startsWith('/')) return path;
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    if (parts.includes('..')) return path;
    if (from === 'contents') return [name, ...parts].join('/');
    return parts.length === 1 ? name : path;
  };
  for await (const event of events) {
    if (event.kind === 'data') {
      yield event;
      continue;
    }
    const { entry } = event;
    const renamed = { ...entry, path: rename(entry.path) };
    const target =
      entry.type === 'hardlink' && entry.target !== undefined ? rename(entry.target) : entry.target;
    yield { kind: 'entry', entry: target === undefined ? renamed : { ...renamed, target } };
  }
}
