/** A tar of one small file: out of one, and into one. POSIX ustar; what comes out of a container is capped and checked. */
import type { Readable } from 'node:stream';
import { SbxError } from '../../errors.ts';

const BLOCK = 512;
/** Where the fields of a header are: offset and length. */
const NAME = [0, 100] as const;
const MODE = [100, 8] as const;
const OWNER = [108, 8] as const;
const GROUP = [116, 8] as const;
const SIZE = [124, 12] as const;
const TIME = [136, 12] as const;
const SUM = [148, 8] as const;
const KIND = 156;
const MAGIC = [257, 8] as const;

/** The content of the first regular file of a tar that holds one small file. Reads all of it, at most `limit` bytes. */
export async function firstFile(tar: Readable, limit: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of tar as AsyncIterable<Buffer>) {
    parts.push(part);
    length += part.length;
    if (length > limit + 16 * BLOCK) throw unreadable('it is too large');
  }
  const all = Buffer.concat(parts);
  for (let at = 0; at + BLOCK <= all.length && all[at] !== 0; ) {
    const size = Number.parseInt(field(all, at, SIZE), 8);
    if (!Number.isSafeInteger(size) || size < 0) throw unreadable('its length is malformed');
    const kind = all[at + KIND];
    const content = all.subarray(at + BLOCK, at + BLOCK + size);
    if (kind === 0x30 || kind === 0) {
      if (content.length < size) throw unreadable('it was cut');
      return content;
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  throw unreadable('it is no file');
}

/** A tar of one file of root's at the relative `path`, which must be short, with the folder that it is in. */
export function fileTar(path: string, content: Buffer, mode: number): Buffer {
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const padding = Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK);
  return Buffer.concat([
    ...(folder === '' ? [] : [header(folder, 0, 0o755, '5')]),
    header(path, content.length, mode, '0'),
    ...[content, padding, Buffer.alloc(2 * BLOCK)],
  ]);
}

function header(name: string, size: number, mode: number, kind: string): Buffer {
  const block = Buffer.alloc(BLOCK);
  const put = ([at, length]: readonly [number, number], text: string) =>
    block.write(text, at, length, 'latin1');
  const octal = (at: readonly [number, number], value: number) =>
    put(at, value.toString(8).padStart(at[1] - 1, '0'));
  put(NAME, name);
  octal(MODE, mode);
  octal(OWNER, 0);
  octal(GROUP, 0);
  octal(SIZE, size);
  octal(TIME, Math.floor(Date.now() / 1000));
  block.write(kind, KIND, 'latin1');
  put(MAGIC, 'ustar\u000000');
  put(SUM, ' '.repeat(SUM[1]));
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(SUM, `${sum.toString(8).padStart(6, '0')}\0 `);
  return block;
}

function field(all: Buffer, at: number, [offset, length]: readonly [number, number]): string {
  return all.toString('latin1', at + offset, at + offset + length).replace(/[\0 ].*$/s, '');
}

function unreadable(why: string): SbxError {
  return new SbxError('failed', `a file from the sandbox cannot be read: ${why}`);
}
