/**
 * Entries to bytes of a tar that GNU, busybox, toybox and bsd tar, Go and Python read alike: long names as GNU `L` and `K`
 * entries (busybox skips pax ones), sizes above 8 GB in base 256, fractions of seconds in a pax header that may be skipped.
 */
import { StringDecoder } from 'node:string_decoder';
import { Header } from 'tar/header';
import { SbxError } from '../../errors.ts';
import { paxRecord } from './pax.ts';
import type { EntryType, Tree, TreeEntry } from './tree.ts';

const BLOCK = 512;
/** Longest name in a header; one less than fits, so that a NUL ends it everywhere. */
const NAME_LIMIT = 99;
/** Small pieces are put together up to this size before they go out. */
const FLUSH = 64 * 1024;
const TYPE = {
  file: 'File',
  directory: 'Directory',
  symlink: 'SymbolicLink',
  hardlink: 'Link',
} as const satisfies Record<EntryType, string>;

/** The tar of `tree`, with its end mark. Fails when `tree` fails, or gives more or fewer bytes than a file's size. */
export async function* encodeTar(tree: Tree): AsyncGenerator<Buffer, void, void> {
  let parts: Buffer[] = [];
  let held = 0;
  let left = 0;
  let padding = 0;
  const add = (part: Buffer): void => {
    parts.push(part);
    held += part.length;
  };
  const flush = (): Buffer => {
    const [only] = parts;
    const all = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
    parts = [];
    held = 0;
    return all;
  };
  for await (const event of tree) {
    if (event.kind === 'entry') {
      if (left > 0) throw sizeMismatch();
      for (const block of encodeEntry(event.entry)) add(block);
      left = event.entry.size;
      padding = (BLOCK - (left % BLOCK)) % BLOCK;
    } else {
      const { buffer, byteOffset, byteLength } = event.data;
      left -= byteLength;
      if (left < 0) throw sizeMismatch();
      add(Buffer.from(buffer, byteOffset, byteLength));
      if (left === 0 && padding > 0) add(Buffer.alloc(padding));
    }
    if (held >= FLUSH) yield flush();
  }
  if (left > 0) throw sizeMismatch();
  add(Buffer.alloc(2 * BLOCK));
  yield flush();
}

/** The header blocks of one entry. */
export function encodeEntry(entry: TreeEntry): Buffer[] {
  const blocks: Buffer[] = [];
  const path = entry.type === 'directory' ? `${entry.path}/` : entry.path;
  const target = entry.target ?? '';
  const seconds = Math.floor(entry.mtimeMs / 1000);
  if (entry.mtimeMs % 1000 !== 0) {
    const body = Buffer.from(paxRecord('mtime', (entry.mtimeMs / 1000).toFixed(6)));
    blocks.push(header('ExtendedHeader', 'PaxHeader', body.length), padded(body));
  }
  if (Buffer.byteLength(target) > NAME_LIMIT) blocks.push(...long('NextFileHasLongLinkpath', target));
  if (Buffer.byteLength(path) > NAME_LIMIT) blocks.push(...long('NextFileHasLongPath', path));
  const block = Buffer.alloc(BLOCK);
  new Header({
    path: shorten(path),
    type: TYPE[entry.type],
    mode: entry.mode & 0o7777,
    uid: entry.uid,
    gid: entry.gid,
    size: entry.size,
    mtime: new Date(seconds * 1000),
    linkpath: shorten(target),
  }).encode(block);
  blocks.push(block);
  return blocks;
}

function long(type: 'NextFileHasLongLinkpath' | 'NextFileHasLongPath', name: string): Buffer[] {
  const body = Buffer.from(`${name}\0`);
  return [header(type, '././@LongLink', body.length), padded(body)];
}

function header(
  type: 'ExtendedHeader' | 'NextFileHasLongLinkpath' | 'NextFileHasLongPath',
  path: string,
  size: number,
): Buffer {
  const block = Buffer.alloc(BLOCK);
  new Header({ path, type, size, mode: 0o644, uid: 0, gid: 0, mtime: new Date(0) }).encode(block);
  return block;
}

function padded(body: Buffer): Buffer {
  return Buffer.concat([body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)]);
}

/** The start of a name that fits a header, cut between characters; its long form stands before it. */
function shorten(name: string): string {
  return new StringDecoder('utf8').write(Buffer.from(name).subarray(0, NAME_LIMIT));
}

function sizeMismatch(): SbxError {
  return new SbxError('failed', 'a file changed its size while it was copied', {
    hint: 'copy again',
    retryable: true,
  });
}
