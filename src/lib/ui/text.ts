/** Text from elsewhere, made safe to show, measured and cut in terminal cells. Pure. */

const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|\p{Cs}/gu;
const ASCII = /^[\x20-\x7e]*$/;
const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\e' };

/** Control characters, text direction marks and lone surrogates as escapes, so that text cannot steer a terminal. */
export function visible(text: string): string {
  // Most text is, and a list of a thousand lines has five thousand of them.
  if (ASCII.test(text)) return text;
  return text.replace(HIDDEN, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return NAMED[char] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`);
  });
}

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, '0');
}

const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]/u;
// Not \p{RGI_Emoji}: compiling that one costs more than all else that a command does before its work.
const EMOJI = /^\p{Emoji_Presentation}|\ufe0f/u;
let segmenter: Intl.Segmenter | undefined;

/** Width in terminal cells: wide characters and emoji count two, combining marks none. No escape codes expected. */
export function width(text: string): number {
  if (ASCII.test(text)) return text.length;
  let cells = 0;
  for (const { segment } of segments(text)) cells += cellsOf(segment);
  return cells;
}

/** What {@link visible} makes of it and the {@link width} of that, at one look where nothing is special. */
export function measured(text: string): { readonly text: string; readonly size: number } {
  if (ASCII.test(text)) return { text, size: text.length };
  const shown = visible(text);
  return { text: shown, size: width(shown) };
}

/** Cuts to at most `cells` cells, ending in `…` where something was cut. */
export function truncate(text: string, cells: number): string {
  if (width(text) <= cells) return text;
  if (cells <= 1) return cells === 1 ? '…' : '';
  let kept = '';
  let used = 0;
  for (const { segment } of segments(text)) {
    const next = used + cellsOf(segment);
    if (next > cells - 1) break;
    kept += segment;
    used = next;
  }
  return `${kept}…`;
}

/** Fills with spaces up to `cells` cells, on the right or the left. */
export function pad(text: string, cells: number, align: 'left' | 'right' = 'left'): string {
  const missing = cells - width(text);
  if (missing <= 0) return text;
  const fill = ' '.repeat(missing);
  return align === 'right' ? fill + text : text + fill;
}

function segments(text: string): Iterable<{ segment: string }> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return segmenter.segment(text);
}

function cellsOf(segment: string): number {
  if (EMOJI.test(segment)) return 2;
  if (ZERO.test(segment)) return 0;
  return isWide(segment.codePointAt(0) ?? 0) ? 2 : 1;
}

/** The blocks of East Asian Width W and F. */
function isWide(code: number): boolean {
  if (code < 0x1100) return false;
  return (
    code <= 0x115f ||
    (code >= 0x2e80 && code <= 0x303e) ||
    (code >= 0x3041 && code <= 0xa4cf) ||
    (code >= 0xa960 && code <= 0xa97c) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff01 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1f64f) ||
    (code >= 0x1f900 && code <= 0x1f9ff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  );
}
