/** How large a local terminal is. */
import type { Writable } from 'node:stream';
import type { TerminalSize } from '../backend/contract.ts';

/** An output that is a terminal, as Node's `tty.WriteStream` is; it emits `resize`. */
export type Screen = Writable & { readonly columns?: number; readonly rows?: number };

/** Its size in cells; 80×24 where it does not know. */
export function sizeOf(screen: Screen): TerminalSize {
  return { cols: screen.columns || 80, rows: screen.rows || 24 };
}
