/** Keys as screens see them, made from what Ink tells of them. Pure. */
import type { Key as InkKey } from 'ink';

/** Keys that are no text. */
export type KeyName =
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'page-up'
  | 'page-down'
  | 'home'
  | 'end'
  | 'enter'
  | 'escape'
  | 'tab'
  | 'shift-tab'
  | 'backspace'
  | `ctrl-${string}`;

/** One key: a name, or the character that it types. */
export type Key = { readonly name: KeyName } | { readonly text: string };

/** What a person does at the keyboard. A paste is text, never commands. */
export type KeyEvent =
  | { readonly type: 'key'; readonly key: Key }
  | { readonly type: 'paste'; readonly text: string };

const NAMES: readonly (readonly [keyof InkKey, KeyName])[] = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'page-up'],
  ['pageDown', 'page-down'],
  ['home', 'home'],
  ['end', 'end'],
  ['return', 'enter'],
  ['escape', 'escape'],
  ['backspace', 'backspace'],
  ['delete', 'backspace'],
];

/** The keys of one report of Ink's: fast typing arrives as one text of several characters. */
export function keysOf(input: string, ink: InkKey): readonly Key[] {
  if (ink.eventType === 'release') return [];
  if (ink.tab) return [{ name: ink.shift ? 'shift-tab' : 'tab' }];
  for (const [flag, name] of NAMES) if (ink[flag] === true) return [{ name }];
  if (ink.ctrl) return input === '' ? [] : [{ name: `ctrl-${input}` }];
  if (ink.meta) return [];
  return [...input].flatMap((char): Key[] => {
    if (char === '\r' || char === '\n') return [{ name: 'enter' }];
    if (char === '\t') return [{ name: 'tab' }];
    // Keys of control that came along in one piece with others.
    if (char < ' ') return [{ name: `ctrl-${String.fromCharCode(char.charCodeAt(0) + 0x60)}` }];
    return char === '\u007f' ? [{ name: 'backspace' }] : [{ text: char }];
  });
}

/** The name of a key, or the character that it types. */
export function keyWord(key: Key): string {
  return 'name' in key ? key.name : key.text;
}
