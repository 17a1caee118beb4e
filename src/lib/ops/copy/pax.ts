/** The records of a pax extended header. Pure. */
import { SbxError } from '../../errors.ts';

/** What a pax header says of the next entry, as far as a copy needs it. */
export interface PaxRecords {
  readonly path?: string;
  readonly linkpath?: string;
  readonly size?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly mtimeMs?: number;
}

/** Reads `LENGTH KEY=VALUE\n` records by their length, so that values may hold newlines. @throws SbxError when damaged. */
export function parsePax(bytes: Buffer): PaxRecords {
  const records: { -readonly [K in keyof PaxRecords]: PaxRecords[K] } = {};
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const digits = space < 0 ? '' : bytes.toString('latin1', at, space);
    const end = at + Number(digits);
    if (!/^[1-9]\d{0,7}$/.test(digits) || end > bytes.length || end <= space + 1 || bytes[end - 1] !== 0x0a)
      throw damaged();
    const equals = bytes.indexOf(0x3d, space);
    if (equals < 0 || equals >= end) throw damaged();
    const key = bytes.toString('utf8', space + 1, equals);
    const value = bytes.toString('utf8', equals + 1, end - 1);
    if (key.startsWith('GNU.sparse.')) {
      throw new SbxError('failed', 'the tar stream holds a file in the GNU sparse format', {
        hint: 'make the archive without --sparse',
      });
    }
    if (key === 'path' || key === 'linkpath') records[key] = value;
    else if (key === 'size' || key === 'uid' || key === 'gid') records[key] = whole(value);
    else if (key === 'mtime') records.mtimeMs = time(value);
    at = end;
  }
  return records;
}

/** One record, its own length included. */
export function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + String(bytes).length;
  length = bytes + String(length).length;
  return `${length}${rest}`;
}

function whole(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value)) throw damaged();
  return value;
}

function time(text: string): number {
  if (!/^-?\d{1,15}(\.\d+)?$/.test(text)) throw damaged();
  return Number(text) * 1000;
}

function damaged(): SbxError {
  return new SbxError('failed', 'the tar stream is damaged: a pax header that cannot be read');
}
