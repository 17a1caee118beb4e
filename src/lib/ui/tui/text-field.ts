/** A line of text that is typed at its end. Pure. */
import type { KeyEvent } from './keys.ts';

/** More than any name or filter needs. */
const LONGEST = 200;

/** The text after the event; undefined when the event is not about text. */
export function typed(text: string, event: KeyEvent): string | undefined {
  if (event.type === 'paste') return grown(text, event.text);
  const { key } = event;
  if ('text' in key) return grown(text, key.text);
  if (key.name === 'backspace') return [...text].slice(0, -1).join('');
  if (key.name === 'ctrl-u') return '';
  return key.name === 'ctrl-w' ? text.replace(/\S*\s*$/, '') : undefined;
}

function grown(text: string, more: string): string {
  return [...`${text}${more.replace(/\p{Cc}/gu, '')}`].slice(0, LONGEST).join('');
}
