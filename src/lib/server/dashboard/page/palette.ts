/** Colours of the terminal, for light and dark pages. */
import type { ITheme } from '@xterm/xterm';

const LIGHT: ITheme = {
  background: '#ffffff',
  foreground: '#1f2937',
  cursor: '#0f766e',
  cursorAccent: '#ffffff',
  selectionBackground: '#99f6e4',
};

const DARK: ITheme = {
  background: '#0b1117',
  foreground: '#dbe4ec',
  cursor: '#2dd4bf',
  cursorAccent: '#0b1117',
  selectionBackground: '#115e59',
};

export function palette(dark: boolean): ITheme {
  return dark ? DARK : LIGHT;
}
