/** Makes a recording safe to print: what asks the terminal or acts on this machine is left out, what shows is kept. */
import { isInputMode } from './modes.ts';

const ESC = 0x1b;
const BEL = 0x07;
const ENQ = 0x05;

/** Takes output in pieces, split anywhere. */
export interface Cleaner {
  /** What of it may be printed. */
  feed(bytes: Uint8Array): Buffer;
  /** The beginning of a code or character whose end has not come yet. */
  readonly rest: Buffer;
}

/** A cleaner at a point where no code or character is open. */
export function createCleaner(): Cleaner {
  let rest: Buffer = Buffer.alloc(0);
  return {
    get rest() {
      return rest;
    },
    feed(bytes) {
      const all =
        rest.length === 0
          ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
          : Buffer.concat([rest, bytes]);
      const kept: Buffer[] = [];
      let from = 0;
      let at = 0;
      while (at < all.length) {
        const byte = all[at] ?? 0;
        if (byte >= 0x20 && byte < 0x7f) {
          at += 1;
          continue;
        }
        const end = endOf(all, at);
        if (end === undefined) break;
        if (!mayBePrinted(all, at, end)) {
          if (at > from) kept.push(all.subarray(from, at));
          from = end;
        }
        at = end;
      }
      if (at > from) kept.push(all.subarray(from, at));
      rest = Buffer.from(all.subarray(at));
      return Buffer.concat(kept);
    },
  };
}

/**
 * Where a recording that begins anywhere can be printed from: after its first line break, else at its first code, else
 * at its first whole character.
 */
export function cleanStart(bytes: Uint8Array): number {
  const line = bytes.subarray(0, LINE_SOUGHT).indexOf(0x0a);
  if (line >= 0) return line + 1;
  const code = bytes.indexOf(ESC);
  if (code >= 0) return code;
  let at = 0;
  while (at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return at;
}

const LINE_SOUGHT = 4096;

/** The end of the character or code at `at`; undefined when it is not all there. */
function endOf(bytes: Buffer, at: number): number | undefined {
  const first = bytes[at] ?? 0;
  if (first === ESC) {
    const second = bytes[at + 1];
    if (second === undefined) return undefined;
    return endOfCode(bytes, at + 2, second);
  }
  if (first < 0xc0) return at + 1;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  for (let next = at + 1; next < at + length; next++) {
    const byte = bytes[next];
    if (byte === undefined) return undefined;
    if ((byte & 0xc0) !== 0x80) return next;
  }
  // U+0080 to U+009F are the same codes as ESC with the letter 0x40 below.
  const control = first === 0xc2 ? (bytes[at + 1] ?? 0) : 0;
  if (control >= 0x80 && control < 0xa0) return endOfCode(bytes, at + 2, control - 0x40);
  return at + length;
}

/** `at` is behind ESC and `second`. */
function endOfCode(bytes: Buffer, at: number, second: number): number | undefined {
  const kind = String.fromCharCode(second);
  if (kind === '[') return scan(bytes, at, (byte) => byte >= 0x40);
  if (']P_^X'.includes(kind)) return endOfText(bytes, at, kind === ']');
  if (second >= 0x20 && second < 0x30) return scan(bytes, at, (byte) => byte >= 0x30);
  // A code that is broken off by another.
  return second === ESC ? at - 1 : at;
}

function scan(bytes: Buffer, from: number, isLast: (byte: number) => boolean): number | undefined {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === ESC) return at;
    if (byte === 0x18 || byte === 0x1a || isLast(byte)) return at + 1;
  }
  return undefined;
}

/** The text of OSC, DCS, APC, PM and SOS goes on until ST, or BEL for OSC. */
function endOfText(bytes: Buffer, from: number, bell: boolean): number | undefined {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at];
    if ((bell && byte === BEL) || byte === 0x18 || byte === 0x1a) return at + 1;
    if (byte === 0xc2 && bytes[at + 1] === 0x9c) return at + 2;
    if (byte !== ESC) continue;
    if (bytes[at + 1] === undefined) return undefined;
    return bytes[at + 1] === 0x5c ? at + 2 : at;
  }
  return undefined;
}

function mayBePrinted(bytes: Buffer, at: number, end: number): boolean {
  const first = bytes[at] ?? 0;
  if (first === BEL || first === ENQ) return false;
  // A part of a character that stands alone is a code for terminals that do not speak UTF-8.
  if (first >= 0x80 && first < 0xc0) return false;
  let kind = '';
  if (first === ESC) kind = String.fromCharCode(bytes[at + 1] ?? 0);
  else if (first === 0xc2 && (bytes[at + 1] ?? 0) < 0xa0) {
    kind = String.fromCharCode((bytes[at + 1] ?? 0) - 0x40);
  } else return true;
  const body = bytes.toString('latin1', at + 2, end);
  // What was broken off by another code could become whole with what follows, once that one is left out.
  if (kind === '[') return /[@-~]$/.test(body) && !asks(body) && !changesInput(body);
  if (kind === ']') return /(\x07|\x1b\\|\xc2\x9c)$/.test(body) && isHarmlessCommand(body);
  // Pictures in sixels; all else asks, defines keys, or is for programs in between.
  if (kind === 'P') return /^[\d;]*q.*(\x1b\\|\xc2\x9c)$/s.test(body);
  if (/[ -/]/.test(kind)) return /[0-~]$/.test(body);
  return !'_^XZ\\\x1b'.includes(kind) && kind >= '0';
}

/** Whether a terminal answers this control sequence, or does something to its window or to a printer. */
function asks(body: string): boolean {
  const [, prefix = '', middle = '', final = ''] = /^([<=>?]?)[\d;:]*([ -/]*)([@-~])/.exec(body) ?? [];
  const what = prefix + middle + final;
  return (
    (middle === '' && (final === 'c' || final === 't' || final === 'x' || final === 'i')) ||
    (final === 'n' && prefix !== '>') ||
    ASKING.has(what)
  );
}

const ASKING = new Set("$p ?$p >q ?u $w &w *y ?*y $u &u '| 'w #R #S #| ?S ?m ?g +w".split(' '));

/** Whether it changes what the terminal sends; what is in force at the end is put on then, see {@link Modes.inputOn}. */
function changesInput(body: string): boolean {
  if (/^[<=>][\d;:]*u$/.test(body) || /^>[\d;]*[mn]$/.test(body)) return true;
  const params = /^\?([\d;]+)[hl]$/.exec(body)?.[1];
  return params?.split(';').some((mode) => isInputMode(Number(mode))) ?? false;
}

/** Titles, links, marks of prompts and colours that are set; never the clipboard, files or notices. */
function isHarmlessCommand(body: string): boolean {
  if (/^(4|1[0-9]);/.test(body)) return !body.includes('?');
  return /^([012];|8;|104|11[0-9]|133;)/.test(body);
}
