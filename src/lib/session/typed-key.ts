/** Takes what a terminal sends apart into keys, also where a program has asked it for one of the longer encodings. */

const ESC = 0x1b;

/** One key, or a piece of something that is none. */
export interface TypedKey {
  /** How many bytes it takes. */
  readonly length: number;
  /** The byte that it would be without any encoding; undefined for what has none; `quiet` for a release or a modifier alone. */
  readonly byte: number | undefined | 'quiet';
}

/** `ESC [ CODE:SHIFTED ; MODIFIERS:EVENT ; TEXT u` of the kitty protocol, and xterm's `ESC [ 27 ; MODIFIERS ; CODE ~`. */
const KITTY = /^\x1b\[(\d+)(?::(\d*))?(?::\d*)?(?:;(\d*)(?::(\d+))?)?(?:;(\d+)[\d:]*)?u/;
const XTERM = /^\x1b\[27;(\d+);(\d+)~/;
const LONGEST = 48;

const CTRL = 4;
const SHIFT = 1;
const LOCKS = 64 | 128;
const RELEASED = '3';

/** The key at `at`. */
export function keyAt(bytes: Uint8Array, at: number): TypedKey {
  const first = bytes[at] ?? 0;
  if (first !== ESC || bytes[at + 1] !== 0x5b) return { length: 1, byte: first };
  const text = String.fromCharCode(...bytes.subarray(at, at + LONGEST));
  const xterm = XTERM.exec(text);
  if (xterm !== null) {
    return { length: xterm[0].length, byte: byteOf(Number(xterm[2]), undefined, Number(xterm[1])) };
  }
  const kitty = KITTY.exec(text);
  if (kitty === null) return { length: 1, byte: first };
  const [all, code = '', shifted = '', modifiers = '', event, typed] = kitty;
  if (event === RELEASED || isModifier(Number(code))) return { length: all.length, byte: 'quiet' };
  const char = Number(typed ?? shifted) || undefined;
  return { length: all.length, byte: byteOf(Number(code), char, Number(modifiers) || 1) };
}

/** `modifiers` are one more than the sum of their bits. */
function byteOf(code: number, shifted: number | undefined, modifiers: number): number | undefined {
  const held = (modifiers - 1) & ~LOCKS;
  if (held === CTRL) return code >= 0x40 && code < 0x80 ? code & 0x1f : undefined;
  if (held === 0) return code < 0x80 ? code : undefined;
  return held === SHIFT && shifted !== undefined && shifted < 0x80 ? shifted : undefined;
}

function isModifier(code: number): boolean {
  return (code >= 57441 && code <= 57454) || (code >= 57358 && code <= 57360);
}
