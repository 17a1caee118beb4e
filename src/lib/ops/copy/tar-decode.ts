/**
 * Bytes of a tar (POSIX ustar and pax, GNU, old) to entries, streaming. Judges only the format: whether a name may be
 * written is the gate's matter. The blocks are decoded by `tar`; names that it would spoil (newlines in pax records) are read here.
 */
import { Header } from 'tar/header';
import { SbxError } from '../../errors.ts';
import { type ByteReader, byteReader, cut } from './byte-reader.ts';
import { type PaxRecords, parsePax } from './pax.ts';
import type { RawEntry, RawEvent } from './tree.ts';

const BLOCK = 512;
/** Most bytes of a long name or a pax header. */
const META_LIMIT = 1024 * 1024;
const COMPRESSED: readonly (readonly [string, string])[] = [
  ['1f8b', 'gzip -dc'],
  ['28b52ffd', 'zstd -dc'],
  ['fd377a58', 'xz -dc'],
  ['425a68', 'bzip2 -dc'],
];
const OTHER: Readonly<Record<string, string>> = {
  '3': 'a character device',
  '4': 'a block device',
  '6': 'a fifo',
  S: 'a file in the GNU sparse format',
};

/** The entries of a tar. Fails on damage, on a cut, and when `source` fails; ends after the whole of `source` was read. */
export async function* decodeTar(source: AsyncIterable<Uint8Array>): AsyncGenerator<RawEvent, void, void> {
  const reader = byteReader(source);
  try {
    yield* entries(reader);
    await reader.drain();
  } finally {
    await reader.close();
  }
}

async function* entries(reader: ByteReader): AsyncGenerator<RawEvent, void, void> {
  let first = true;
  let zeros = 0;
  let pax: PaxRecords = {};
  let longName: string | undefined;
  let longLink: string | undefined;
  for (;;) {
    const block = await reader.exactly(BLOCK);
    if (block === undefined) throw first ? notTar(undefined) : cut();
    const header = decodeBlock(block, first, pax.path ?? longName);
    first = false;
    if (header === undefined) {
      zeros++;
      if (zeros === 2) return;
      continue;
    }
    if (zeros > 0) throw damaged('an empty block between entries');
    const size = pax.size ?? header.size;
    if (size === undefined || !Number.isSafeInteger(size)) throw damaged('an entry without a size');
    switch (header.typeKey) {
      case 'x':
        pax = { ...pax, ...parsePax(await meta(reader, header.size ?? 0)) };
        continue;
      case 'g':
        await meta(reader, header.size ?? 0);
        continue;
      case 'L':
        longName = text(await meta(reader, header.size ?? 0));
        continue;
      case 'K':
        longLink = text(await meta(reader, header.size ?? 0));
        continue;
    }
    const entry = toEntry(header, pax, longName, longLink, size);
    pax = {};
    longName = undefined;
    longLink = undefined;
    yield { kind: 'entry', entry };
    yield* body(reader, size, entry.type === 'file');
  }
}

async function* body(
  reader: ByteReader,
  size: number,
  wanted: boolean,
): AsyncGenerator<RawEvent, void, void> {
  for (let left = size; left > 0; ) {
    const data = await reader.some(left);
    left -= data.length;
    if (wanted) yield { kind: 'data', data };
  }
  const padding = (BLOCK - (size % BLOCK)) % BLOCK;
  if (padding > 0 && (await reader.exactly(padding)) === undefined) throw cut();
}

async function meta(reader: ByteReader, size: number): Promise<Buffer> {
  if (size > META_LIMIT) throw damaged('a name or header that is too long');
  const padded = Math.ceil(size / BLOCK) * BLOCK;
  if (padded === 0) return Buffer.alloc(0);
  const data = await reader.exactly(padded);
  if (data === undefined) throw cut();
  return data.subarray(0, size);
}

/**
 * @param path what came before says of the name, which the block may hold the start of. Old programs mark directories by a slash at
 *   the end of the name, and a name that was cut, or lost what is not ASCII, can end in one.
 */
function decodeBlock(block: Buffer, first: boolean, path: string | undefined): Header | undefined {
  let header: Header;
  try {
    header = path === undefined ? new Header(block) : new Header(block, 0, { path });
  } catch (cause) {
    throw damaged('a number out of range', cause);
  }
  if (header.nullBlock) return undefined;
  if (!header.cksumValid) throw first ? notTar(block) : damaged('a header with a wrong checksum');
  return header;
}

function toEntry(
  header: Header,
  pax: PaxRecords,
  longName: string | undefined,
  longLink: string | undefined,
  size: number,
): RawEntry {
  const type = typeOf(header.typeKey);
  const target = pax.linkpath ?? longLink ?? header.linkpath ?? '';
  return {
    path: pax.path ?? longName ?? header.path ?? '',
    type,
    mode: (header.mode ?? (type === 'directory' ? 0o755 : 0o644)) & 0o7777,
    uid: pax.uid ?? header.uid ?? 0,
    gid: pax.gid ?? header.gid ?? 0,
    size: type === 'file' ? size : 0,
    mtimeMs: pax.mtimeMs ?? timeOf(header.mtime),
    ...(type === 'symlink' || type === 'hardlink' ? { target } : {}),
    ...(type === 'other' ? { what: OTHER[header.typeKey] ?? 'of a type that sbx does not know' } : {}),
  };
}

function typeOf(key: string): RawEntry['type'] {
  switch (key) {
    case '0':
    case '':
    case '7':
      return 'file';
    case '1':
      return 'hardlink';
    case '2':
      return 'symlink';
    case '5':
      return 'directory';
    default:
      return 'other';
  }
}

function timeOf(date: Date | undefined): number {
  const time = date?.getTime() ?? 0;
  return Number.isFinite(time) ? time : 0;
}

/** A GNU long name: ends with one NUL; any other is kept for the gate to refuse. */
function text(bytes: Buffer): string {
  return bytes.toString('utf8').replace(/\0$/, '');
}

function damaged(what: string, cause?: unknown): SbxError {
  return new SbxError('failed', `the tar stream is damaged: ${what}`, { cause });
}

function notTar(block: Buffer | undefined): SbxError {
  if (block === undefined) {
    return new SbxError('failed', 'there is no tar stream: the input is empty');
  }
  const start = block.subarray(0, 4).toString('hex');
  const packer = COMPRESSED.find(([magic]) => start.startsWith(magic))?.[1];
  if (packer === undefined) return new SbxError('failed', 'this is not a tar stream');
  return new SbxError('failed', 'the tar stream is compressed', {
    hint: `unpack it on the way: ${packer} FILE | sbx cp - …`,
  });
}
