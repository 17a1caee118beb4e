/** Keys that touch screens have not. */
import { button, el } from './dom.ts';

const KEYS = [
  ['Esc', '\x1b', 'Escape'],
  ['Tab', '\t', 'Tab'],
  ['←', '\x1b[D', 'Left'],
  ['↑', '\x1b[A', 'Up'],
  ['↓', '\x1b[B', 'Down'],
  ['→', '\x1b[C', 'Right'],
] as const;

export interface KeyBar {
  readonly element: HTMLElement;
  /** Applies Ctrl to keys, where it was pressed before them. */
  apply(keys: string): string;
}

/** @param type sends keys and gives the terminal the focus back. */
export function keyBar(type: (keys: string) => void): KeyBar {
  const ctrl = button('Ctrl', () => set(ctrl.ariaPressed !== 'true'), { 'aria-pressed': 'false' });
  const set = (pressed: boolean) => {
    ctrl.ariaPressed = String(pressed);
    type('');
  };
  const others = KEYS.map(([label, keys, name]) => button(label, () => type(keys), { 'aria-label': name }));
  return {
    element: el('div', { class: 'keys', role: 'group', 'aria-label': 'Keys' }, ctrl, ...others),
    apply(keys) {
      if (keys === '' || ctrl.ariaPressed !== 'true') return keys;
      ctrl.ariaPressed = 'false';
      return withCtrl(keys);
    },
  };
}

/** What a keyboard sends for a key that is pressed with Ctrl; others stay what they are. */
export function withCtrl(keys: string): string {
  const code = keys.toUpperCase().charCodeAt(0);
  return keys.length === 1 && code >= 0x40 && code < 0x60 ? String.fromCharCode(code & 0x1f) : keys;
}
