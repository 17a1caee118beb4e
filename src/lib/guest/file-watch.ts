/** Changes of files out of what file-watch.sh prints. */
import type { FileEvent } from '../backend/contract.ts';
import { type FileRecord, garbled, parseRecords, pieces } from './file-records.ts';

/** The changes of a stream that inotifywait writes: `EVENTS|PATH`, each ended by NUL. */
export async function* inotifyEvents(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<FileEvent, void, void> {
  const text = pieces(source);
  for (;;) {
    const line = await text.until(0);
    if (line === undefined) return;
    const match = /^([A-Z_,]{1,100})\|(.+)$/s.exec(line);
    if (match === null) throw garbled();
    const [, names = '', raw = ''] = match;
    const events = names.split(',');
    const kind = kindOf(events);
    if (kind === undefined) continue;
    const path = raw.replace(/(?<=.)\/$/, '');
    yield events.includes('ISDIR') ? { kind, path, type: 'directory' } : { kind, path };
  }
}

function kindOf(events: readonly string[]): FileEvent['kind'] | undefined {
  for (const event of events) {
    switch (event) {
      case 'CREATE':
      case 'MOVED_TO':
        return 'created';
      case 'MODIFY':
      case 'ATTRIB':
        return 'changed';
      case 'DELETE':
      case 'MOVED_FROM':
      case 'DELETE_SELF':
      case 'MOVE_SELF':
        return 'removed';
    }
  }
  return undefined;
}

/** The differences between the rounds of records of a stream. The first round is where things start from; `onFirst` is called after it. */
export async function* snapshotEvents(
  source: AsyncIterable<Uint8Array>,
  onFirst?: () => void,
): AsyncGenerator<FileEvent, void, void> {
  let before: Map<string, FileRecord> | undefined;
  let now = new Map<string, FileRecord>();
  for await (const record of parseRecords(source)) {
    if (record !== 'end') {
      now.set(record.path, record);
      continue;
    }
    if (before === undefined) onFirst?.();
    else yield* differences(before, now);
    before = now;
    now = new Map();
  }
}

function* differences(
  before: ReadonlyMap<string, FileRecord>,
  now: ReadonlyMap<string, FileRecord>,
): Generator<FileEvent> {
  for (const [path, record] of before) {
    if (!now.has(path)) yield { kind: 'removed', path, type: record.type };
  }
  for (const [path, record] of now) {
    const old = before.get(path);
    if (old === undefined) yield { kind: 'created', path, type: record.type };
    // A directory changes with each name in it, which has its own event.
    else if (old.type !== record.type || (record.type !== 'directory' && old.stamp !== record.stamp)) {
      yield { kind: 'changed', path, type: record.type };
    }
  }
}
