/** Follows what a program prints and knows which modes of the terminal it has changed, however the output is split. */

const ESC = 0x1b;

/** Modes by their numbers in `ESC [ ? … h`: those that are off by themselves, unless they stand in the other list. */
const SCREENS = [47, 1047, 1049];
/** With these on, a terminal sends what nobody typed, or other bytes for keys. */
const INPUT_MODES = [1, 9, 66, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2031, 2048];
const SCREEN_MODES = [5, 6, 45, 69, 2026];
const ON_BY_DEFAULT = [7, 25];
const KNOWN = new Set([...SCREENS, ...INPUT_MODES, ...SCREEN_MODES, ...ON_BY_DEFAULT]);
/** `ESC [ … h` without a question mark: keyboard locked, insert, line feed with carriage return. */
const ANSI = new Set([2, 4, 20]);
const LONGEST = 128;
const DEEPEST = 16;

/** Whether changing this mode changes what a terminal sends. */
export function isInputMode(mode: number): boolean {
  return INPUT_MODES.includes(mode);
}

/** What is known of the modes of a terminal that output goes to. */
export interface Modes {
  /** Takes in output; costs little where there are no escape codes. */
  feed(bytes: Uint8Array): void;
  /** Whether a full-screen program has the alternate screen. */
  readonly alternate: boolean;
  /** The bytes that put off what is on, and nothing for what is not. The cursor stays, unless margins were set. */
  off(): string;
  /** The bytes that change a terminal without modes into one like this; colours and margins excepted. */
  on(): string;
  /** The part of {@link on} that shows. */
  shownOn(): string;
  /** The part of {@link on} that changes what the terminal sends. */
  inputOn(): string;
}

/** A terminal as it is when it is opened. */
export function createModes(): Modes {
  const changed = new Set<number>();
  const ansi = new Set<number>();
  const xtermKeys = new Map<string, string>();
  const charsets = new Map<string, string>();
  /** Flags of the kitty keyboard protocol: of the main and of the alternate screen, the first of each is not pushed. */
  let kitty: [number[], number[]] = [[0], [0]];
  let keypad = false;
  let margins = false;
  let colored = false;
  let linked = false;
  let cursorStyle = '0';
  const alternate = () => SCREENS.some((mode) => changed.has(mode));
  const reset = () => {
    for (const each of [changed, ansi, xtermKeys, charsets]) each.clear();
    kitty = [[0], [0]];
    keypad = margins = colored = linked = false;
    cursorStyle = '0';
  };

  const setModes = (known: Set<number>, params: string, on: boolean) => {
    for (const param of params.split(';')) {
      const mode = Number(param);
      if (!known.has(mode)) continue;
      if (on === (known === KNOWN && ON_BY_DEFAULT.includes(mode))) {
        if (known === KNOWN) changed.delete(mode);
        else ansi.delete(mode);
      } else (known === KNOWN ? changed : ansi).add(mode);
    }
  };
  const setKitty = (prefix: string, params: string) => {
    const stack = kitty[alternate() ? 1 : 0];
    const [first = '', second = '1'] = params.split(';');
    const flags = Number(first) || 0;
    const top = stack.length - 1;
    if (prefix === '>') {
      stack.push(flags);
      if (stack.length > DEEPEST) stack.splice(1, 1);
    } else if (prefix === '<') {
      const popped = Number(first) || 1;
      if (popped > top) stack.splice(0, stack.length, 0);
      else stack.length -= popped;
    } else if (prefix === '=') {
      const now = stack[top] ?? 0;
      stack[top] = second === '2' ? now | flags : second === '3' ? now & ~flags : flags;
    }
  };
  const control = (body: string, final: string) => {
    const [, prefix = '', params = '', middle = ''] = /^([<=>?]?)([\d;:]*)([ -/]*)$/.exec(body) ?? [];
    const what = prefix + middle + final;
    if (what === '?h' || what === '?l') setModes(KNOWN, params, final === 'h');
    else if (what === 'h' || what === 'l') setModes(ANSI, params, final === 'h');
    else if (what === 'm') colored = !/^0*$/.test(params) && !/^[\d;]*;0*$/.test(withoutColors(params));
    else if (what === 'r') margins = params !== '';
    else if (what === ' q') cursorStyle = params || '0';
    else if (what === '!p') softReset();
    else if (what === '>m') {
      const [resource = '', value = ''] = params.split(';');
      if (value === '' || value === '0') xtermKeys.delete(resource);
      else xtermKeys.set(resource, value);
    } else if (final === 'u' && middle === '' && prefix !== '') setKitty(prefix, params);
  };
  const softReset = () => {
    for (const mode of [1, 6, 25, 66, 69]) changed.delete(mode);
    for (const each of [ansi, charsets]) each.clear();
    keypad = margins = colored = false;
  };
  const designate = (body: string, final: string) => {
    if (body === '' && final === 'c') reset();
    else if (body === '' && (final === '=' || final === '>')) keypad = final === '=';
    else if (/^[()*+]$/.test(body)) {
      if (final === 'B') charsets.delete(body);
      else charsets.set(body, final);
    }
  };

  let state: 'text' | 'escape' | 'control' | 'command' = 'text';
  let body = '';
  /** One byte of an escape code. */
  const step = (byte: number) => {
    const char = String.fromCharCode(byte);
    if (byte === ESC) {
      state = 'escape';
      body = '';
    } else if (byte === 0x18 || byte === 0x1a || byte >= 0x7f) state = 'text';
    else if (byte < 0x20) return;
    else if (state === 'escape' && body === '' && char === '[') state = 'control';
    // The text of these ends with ESC, and holds nothing else that matters.
    else if (state === 'escape' && body === '' && char === ']') state = 'command';
    else if (state === 'command') {
      body += char;
      if (body === '8;') linked = true;
      if (body.length === 2) state = 'text';
    } else if (byte >= (state === 'control' ? 0x40 : 0x30)) {
      if (state === 'control') control(body, char);
      else designate(body, char);
      state = 'text';
    } else if (body.length < LONGEST) body += char;
    else state = 'text';
  };

  const inputOff = () => {
    const modes = INPUT_MODES.filter((mode) => changed.has(mode));
    return (
      (modes.length > 0 ? `\x1b[?${modes.join(';')}l` : '') +
      (keypad ? '\x1b>' : '') +
      [...xtermKeys.keys()].map((resource) => `\x1b[>${resource}m`).join('')
    );
  };
  const kittyOff = ([base = 0, ...pushed]: readonly number[]) =>
    (pushed.length > 0 ? `\x1b[<${pushed.length}u` : '') + (base > 0 ? '\x1b[=0u' : '');
  const kittyOn = ([base = 0, ...pushed]: readonly number[]) =>
    (base > 0 ? `\x1b[=${base}u` : '') + pushed.map((flags) => `\x1b[>${flags}u`).join('');
  const screenOf = (end: 'h' | 'l') =>
    SCREENS.filter((mode) => changed.has(mode))
      .map((mode) => `\x1b[?${mode}${end}`)
      .join('');
  const inputOn = () => {
    const modes = INPUT_MODES.filter((mode) => changed.has(mode));
    return (
      kittyOn(kitty[alternate() ? 1 : 0]) +
      [...xtermKeys].map(([resource, value]) => `\x1b[>${resource};${value}m`).join('') +
      (keypad ? '\x1b=' : '') +
      (modes.length > 0 ? `\x1b[?${modes.join(';')}h` : '')
    );
  };

  const shownOn = () => {
    const plain = [5, 6, 45, 69].filter((mode) => changed.has(mode));
    return [
      screenOf('h'),
      plain.length > 0 ? `\x1b[?${plain.join(';')}h` : '',
      [...charsets].map(([slot, name]) => `\x1b${slot}${name}`).join(''),
      changed.has(7) ? '\x1b[?7l' : '',
      [...ansi].map((mode) => `\x1b[${mode}h`).join(''),
      cursorStyle === '0' ? '' : `\x1b[${cursorStyle} q`,
      changed.has(25) ? '\x1b[?25l' : '',
    ].join('');
  };

  return {
    get alternate() {
      return alternate();
    },
    feed(bytes) {
      let at = 0;
      for (;;) {
        while (state !== 'text' && at < bytes.length) step(bytes[at++] ?? 0);
        at = bytes.indexOf(ESC, at);
        if (at < 0 || state !== 'text') return;
        step(bytes[at++] ?? 0);
      }
    },
    off() {
      const moved = margins || changed.has(6) || changed.has(69);
      return [
        // A code or a character that was cut off ends here.
        state === 'text' ? '' : '\x1b\\',
        changed.has(2026) ? '\x1b[?2026l' : '',
        inputOff(),
        alternate() ? kittyOff(kitty[1]) : '',
        linked ? '\x1b]8;;\x1b\\' : '',
        // Takes the cursor to the corner, from where leaving the alternate screen takes it back.
        moved ? '\x1b[?6;69l\x1b[r' : '',
        screenOf('l'),
        moved && !alternate() ? '\x1b[999;1H' : '',
        kittyOff(kitty[0]),
        colored ? '\x1b[m' : '',
        [...charsets.keys()].map((slot) => `\x1b${slot}B`).join(''),
        charsets.size > 0 ? '\x0f' : '',
        changed.has(5) ? '\x1b[?5l' : '',
        changed.has(45) ? '\x1b[?45l' : '',
        changed.has(7) ? '\x1b[?7h' : '',
        [...ansi].map((mode) => `\x1b[${mode}l`).join(''),
        cursorStyle === '0' ? '' : '\x1b[0 q',
        changed.has(25) ? '\x1b[?25h' : '',
      ].join('');
    },
    on: () => (alternate() ? kittyOn(kitty[0]) : '') + shownOn() + inputOn(),
    shownOn,
    inputOn,
  };
}

/** Parameters of colours are no attributes: `38;5;0` does not end with a reset. */
function withoutColors(params: string): string {
  return params.replace(/\b[345]8[;:](?:5[;:]\d*|2[;:]\d*[;:]\d*[;:]\d*)/g, '1');
}
