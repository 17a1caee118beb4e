/** The log of one process record in a folder of this machine: by position, by time, and as it grows. */
import { type FSWatcher, watch } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { SbxError } from '../../errors.ts';
import { INDEX_LIMIT, logClock, parseLogIndex, sizeAt, sizeBefore } from '../../guest/logs-index.ts';
import type { Call, LogChunk, LogOptions } from '../contract.ts';
import { openFileIn, pathOf, readFileIn } from './process-folder-files.ts';

const BLOCK = 64 * 1024;
const LOOK_MS = 1000;
const NEWLINE = 0x0a;

/** Streams the log in the open directory `record`; following ends once `isRunning` says no and all is read. */
export async function* folderLog(
  record: FileHandle,
  isRunning: () => Promise<boolean>,
  options: LogOptions,
  call: Call,
): AsyncGenerator<LogChunk, void, void> {
  const log = await openFileIn(record, 'log');
  if (log === undefined) return;
  const bell = ring([pathOf(log), pathOf(record)], call.signal);
  try {
    const samples = parseLogIndex(
      ((await readFileIn(record, 'index', INDEX_LIMIT)) ?? Buffer.alloc(0)).toString('latin1'),
    );
    const { size } = await log.stat();
    const { since, until } = options;
    const sampled = until === undefined || until >= Date.now() ? undefined : sizeAt(samples, until);
    const stop = sampled === undefined ? size : await lineStart(log, Math.min(sampled, size));
    const low = since === undefined ? 0 : await lineStart(log, Math.min(sizeBefore(samples, since), stop));
    let position =
      options.tail === undefined ? low : Math.max(low, await linesBefore(log, stop, options.tail));
    const clock = logClock(samples, position);
    async function* upTo(file: FileHandle, end: number): AsyncGenerator<LogChunk, void, void> {
      while (position < end) {
        refuseAborted(call);
        const { buffer, bytesRead } = await file.read(
          Buffer.allocUnsafe(BLOCK),
          0,
          Math.min(BLOCK, end - position),
          position,
        );
        if (bytesRead === 0) return;
        position += bytesRead;
        yield* clock.stamp(buffer.subarray(0, bytesRead), Date.now());
      }
    }
    yield* upTo(log, stop);
    if (!options.follow || stop < size) return;
    for (;;) {
      const rung = bell.next();
      const running = await isRunning();
      const now = (await log.stat()).size;
      if (now < position) {
        position = 0;
        clock.restart(0, []);
      }
      if (now > position) {
        yield* upTo(log, now);
        continue;
      }
      if (!running || (until !== undefined && Date.now() > until)) return;
      await rung;
      refuseAborted(call);
    }
  } finally {
    bell.close();
    await log.close();
  }
}

function refuseAborted(call: Call): void {
  if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted while reading a log');
}

/** The start of the last `count` lines before `end`; a last line without its newline counts. */
async function linesBefore(log: FileHandle, end: number, count: number): Promise<number> {
  if (count === 0) return end;
  let left = count;
  const block = Buffer.allocUnsafe(BLOCK);
  // The newline that ends the last line starts no further one.
  let limit = end - 1;
  while (limit > 0) {
    const from = Math.max(0, limit - BLOCK);
    const { bytesRead } = await log.read(block, 0, limit - from, from);
    for (let at = bytesRead - 1; at >= 0; at--) {
      if (block[at] === NEWLINE && --left === 0) return from + at + 1;
    }
    limit = from;
  }
  return 0;
}

/** The start of the line that `position` is in: samples of the size fall anywhere. */
async function lineStart(log: FileHandle, position: number): Promise<number> {
  if (position === 0) return 0;
  const { buffer, bytesRead } = await log.read(Buffer.alloc(1), 0, 1, position - 1);
  return bytesRead === 1 && buffer[0] === NEWLINE ? position : await linesBefore(log, position, 1);
}

interface Bell {
  /** Resolves at the next change, after a second, or when the call is aborted. */
  next(): Promise<void>;
  close(): void;
}

function ring(paths: readonly string[], signal: AbortSignal): Bell {
  let wake: () => void = () => undefined;
  const watchers: FSWatcher[] = [];
  const onChange = () => wake();
  signal.addEventListener('abort', onChange);
  for (const path of paths) {
    try {
      // Without watches left (ENOSPC, EMFILE) the look once a second remains.
      watchers.push(watch(path, onChange).on('error', onChange));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
    }
  }
  return {
    next() {
      return new Promise((done) => {
        const timer = setTimeout(done, LOOK_MS);
        wake = () => {
          clearTimeout(timer);
          done();
        };
        if (signal.aborted) wake();
      });
    },
    close() {
      wake();
      signal.removeEventListener('abort', onChange);
      for (const watcher of watchers) watcher.close();
    },
  };
}
