/**
 * Words of a shell's command line while they are typed: quotes may be open, and what is put in goes on inside them.
 * Nothing is expanded: a word with `$HOME` or `$(…)` in it is taken as it stands.
 */

/** The quotes that are open where a word ends. */
export type OpenQuote = '' | "'" | '"' | "$'";

/** A word as the shell will hand it over, as far as it has been typed. */
export interface TypedWord {
  readonly text: string;
  readonly open: OpenQuote;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  e: '\u001b',
  E: '\u001b',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
};

/** Takes the quotes off a word of bash. */
export function readBashWord(raw: string): TypedWord {
  let text = '';
  let open: OpenQuote = '';
  for (let i = 0; i < raw.length; i++) {
    const sign = raw[i] ?? '';
    const next = raw[i + 1] ?? '';
    if (open === '') {
      if (sign === "'" || sign === '"') open = sign;
      else if (sign === '$' && next === "'") {
        open = "$'";
        i++;
      } else if (sign === '\\') {
        text += next;
        i++;
      } else text += sign;
    } else if (sign === open || (open === "$'" && sign === "'")) open = '';
    else if (open === '"' && sign === '\\' && /["\\$`]/.test(next)) {
      text += next;
      i++;
    } else if (open === "$'" && sign === '\\') {
      const [code = next, digits] =
        /^(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8}))/.exec(raw.slice(i + 1)) ?? [];
      const point = digits ?? code.slice(1);
      text += point === '' ? (ESCAPES[code] ?? code) : String.fromCodePoint(Number.parseInt(point, 16));
      i += code.length;
    } else text += sign;
  }
  return { text, open };
}

/** Takes the quotes off a word of fish. */
export function readFishWord(raw: string): string {
  let text = '';
  let open = '';
  for (let i = 0; i < raw.length; i++) {
    const sign = raw[i] ?? '';
    const next = raw[i + 1] ?? '';
    if (sign === open) open = '';
    else if (open === '' && (sign === "'" || sign === '"')) open = sign;
    else if (
      sign === '\\' &&
      (open === '' || next === open || next === '\\' || (open === '"' && next === '$'))
    ) {
      text += open === '' ? (ESCAPES[next] ?? next) : next;
      i++;
    } else text += sign;
  }
  return text;
}

/** What must not reach a terminal as it is. */
const HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|\p{Cs}/gu;

/** Writes `text` so that it goes on a word of bash inside those quotes. Control characters become escapes. */
export function writeBashWord(text: string, open: OpenQuote): string {
  if (open === "$'") return hidden(text.replace(/[\\']/g, '\\$&'), (code) => code);
  if (open === "'") return hidden(text.replaceAll("'", "'\\''"), (code) => `'$'${code}''`);
  if (open === '"') {
    // There is no way to write "!" between double quotes without the history being asked for it.
    return hidden(text.replace(/["\\$`]/g, '\\$&').replaceAll('!', `"'!'"`), (code) => `"$'${code}'"`);
  }
  return hidden(
    text.replace(/[\x20-\x7e]/g, (sign) => (/[\w@%+=:,./-]/.test(sign) ? sign : `\\${sign}`)),
    (code) => `$'${code}'`,
  );
}

function hidden(text: string, wrap: (code: string) => string): string {
  return text.replace(HIDDEN, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    const name = { 9: '\\t', 10: '\\n', 13: '\\r', 27: '\\e' }[code];
    return wrap(name ?? (code < 0x80 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`));
  });
}

function hex(code: number, width: number): string {
  return code.toString(16).padStart(width, '0');
}

/** Signs that PowerShell takes for single quotes, and for double ones. */
const SINGLE = /['\u2018-\u201b]/g;
const DOUBLE = /[`$"\u201c-\u201e]/g;

/** Writes `text` as a whole word of PowerShell. Control characters become expressions. */
export function writePowerShellWord(text: string): string {
  if (/^[\w:./\\+=%-]+$/.test(text)) return text;
  if (text.search(HIDDEN) < 0) return `'${text.replace(SINGLE, '$&$&')}'`;
  return `"${text.replace(DOUBLE, '`$&').replace(HIDDEN, (sign) => `$([char]${sign.codePointAt(0)})`)}"`;
}

/** Whether a shell that quotes by itself may be given this text: it has a way to write line breaks alone. */
export function isPlain(text: string): boolean {
  return text.replaceAll('\n', '').search(HIDDEN) < 0;
}
