/** Reads what file-records.sh prints. The sandbox is hostile: everything is capped and checked. */
import type { FileStat, FileType } from '../backend/contract.ts';
import { SbxError } from '../errors.ts';

const BATCH_LIMIT = 1_000_000;
const NAME_LIMIT = 64 * 1024;
const FACTS =
  /^([0-9a-f]{1,8}) (\d{1,16}) (\d{1,20}) (\d{1,10}) (\d{1,10}) (.{1,64}?) (.{1,64}?)\|(\d{4,6}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,9}))? ([+-]\d\d)(\d\d)$/;

/** A file as the program saw it; `stamp` changes when the file does. */
export interface FileRecord extends FileStat {
  readonly stamp: string;
}

/** Records of a stream, until it ends or, with `onRound`, at each end mark. */
export async function* parseRecords(
  source: AsyncIterable<Uint8Array>,
  onRound?: () => void,
): AsyncGenerator<FileRecord | 'end', void, void> {
  const text = pieces(source);
  for (;;) {
    const head = await text.until(0x0a);
    if (head === undefined) return;
    const count = /^\d{1,7}$/.test(head) ? Number(head) : Number.NaN;
    if (!(count <= BATCH_LIMIT)) throw garbled();
    if (count === 0) {
      onRound?.();
      yield 'end';
      continue;
    }
    const facts: string[] = [];
    for (let each = 0; each < count; each++) facts.push(await need(text.until(0x0a)));
    for (const line of facts) {
      const path = await need(text.until(0));
      yield toRecord(line, path, await need(text.until(0)));
    }
  }
}

function toRecord(line: string, raw: string, target: string): FileRecord {
  const match = FACTS.exec(line);
  if (match === null) throw garbled();
  const [
    ,
    mode = '',
    size = '',
    ,
    uid = '',
    gid = '',
    user = '',
    group = '',
    day,
    time,
    fraction = '0',
    zone,
    zoneMinutes,
  ] = match;
  const bits = Number.parseInt(mode, 16);
  const modified = new Date(`${day}T${time}.${fraction.padEnd(3, '0').slice(0, 3)}${zone}:${zoneMinutes}`);
  if (Number.isNaN(modified.getTime())) throw garbled();
  const path = raw === '/' ? raw : raw.replace(/\/+/g, '/').replace(/(?<=.)\/$/, '');
  const type = typeOf(bits);
  return {
    path,
    name: path.split('/').at(-1) || path,
    type,
    size: Number(size),
    mode: bits & 0o7777,
    modifiedAt: modified.toISOString(),
    user: user === 'UNKNOWN' || user === '?' ? uid : user,
    group: group === 'UNKNOWN' || group === '?' ? gid : group,
    ...(type === 'symlink' ? { target } : {}),
    stamp: line,
  };
}

function typeOf(mode: number): FileType {
  switch (mode & 0o170000) {
    case 0o100000:
      return 'file';
    case 0o040000:
      return 'directory';
    case 0o120000:
      return 'symlink';
    default:
      return 'other';
  }
}

/** Cuts a stream at marks. */
export function pieces(source: AsyncIterable<Uint8Array>): {
  until(mark: number): Promise<string | undefined>;
} {
  const chunks = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  return {
    /** The text before the next `mark`; undefined at the end. @throws SbxError when it is too long or the end comes before it. */
    async until(mark) {
      let searched = 0;
      for (;;) {
        const at = rest.indexOf(mark, searched);
        if (at >= 0) {
          const piece = rest.toString('utf8', 0, at);
          rest = rest.subarray(at + 1);
          return piece;
        }
        if (rest.length > NAME_LIMIT) throw garbled();
        searched = rest.length;
        const next = await chunks.next();
        if (next.done) {
          if (rest.length > 0) throw garbled();
          return undefined;
        }
        rest = Buffer.concat([rest, next.value]);
      }
    },
  };
}

async function need(piece: Promise<string | undefined>): Promise<string> {
  const text = await piece;
  if (text === undefined) throw garbled();
  return text;
}

/** The error of an answer that no honest program gives. */
export function garbled(): SbxError {
  return new SbxError('failed', 'the sandbox answered with something that is no list of files');
}
