/**
 * The bytes of a new file. Those of a small one are written at once; those of a large one in blocks by another thread, while
 * the next ones arrive.
 */
import { writeSync, write as writeWithCallback } from 'node:fs';
import { promisify } from 'node:util';

const write = promisify(writeWithCallback);

/** A block of most file systems; one that is all zeros becomes a hole. */
const HOLE = 4096;
const ZEROS = Buffer.alloc(HOLE);
/** What is handed to another thread at once; two of them are in memory. */
const BLOCK = 1024 * 1024;

export interface FileWriter {
  /** Takes all of `data`, which is free again when this returns, or resolves. */
  write(data: Uint8Array): Promise<void> | void;
  /** Resolves when all is written, or nothing more will be. To be called before the descriptor is closed. */
  end(): Promise<void>;
}

/** Writes to a new file from its start on. @param size how much will come. */
export function fileWriter(fd: number, size: number): FileWriter {
  return size > BLOCK ? blockWriter(fd) : directWriter(fd);
}

function directWriter(fd: number): FileWriter {
  let at = 0;
  return {
    write(data) {
      const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
      for (const { from, to } of solid(bytes, at))
        for (let done = from; done < to; ) done += writeSync(fd, bytes, done, to - done, at + done);
      at += bytes.length;
    },
    end: async () => undefined,
  };
}

function blockWriter(fd: number): FileWriter {
  let filling = Buffer.allocUnsafeSlow(BLOCK);
  let spare = Buffer.allocUnsafeSlow(BLOCK);
  let filled = 0;
  let at = 0;
  let writing = Promise.resolve();
  const flush = async () => {
    await writing;
    writing = writeBlock(fd, filling.subarray(0, filled), at);
    // Whoever waits for it next hears of it.
    writing.catch(() => undefined);
    at += filled;
    filled = 0;
    [filling, spare] = [spare, filling];
  };
  return {
    async write(data) {
      for (let taken = 0; taken < data.length; ) {
        const part = data.subarray(taken, taken + BLOCK - filled);
        filling.set(part, filled);
        filled += part.length;
        taken += part.length;
        if (filled === BLOCK) await flush();
      }
    },
    async end() {
      if (filled > 0) await flush();
      await writing;
    },
  };
}

async function writeBlock(fd: number, bytes: Buffer, at: number): Promise<void> {
  for (const { from, to } of solid(bytes, at)) {
    for (let done = from; done < to; )
      done += (await write(fd, bytes, done, to - done, at + done)).bytesWritten;
  }
}

/** The parts of `bytes`, which belong at `start` of a file, that are no whole blocks of zeros. */
function* solid(bytes: Buffer, start: number): Generator<{ readonly from: number; readonly to: number }> {
  const endOfBlock = (at: number): number => Math.min(bytes.length, at + HOLE - ((start + at) % HOLE));
  for (let from = 0; from < bytes.length; ) {
    let to = from;
    while (to < bytes.length && !isZero(bytes, to, endOfBlock(to))) to = endOfBlock(to);
    if (to > from) yield { from, to };
    from = to < bytes.length ? endOfBlock(to) : to;
  }
}

function isZero(bytes: Buffer, from: number, to: number): boolean {
  return bytes.compare(ZEROS, 0, to - from, from, to) === 0;
}
