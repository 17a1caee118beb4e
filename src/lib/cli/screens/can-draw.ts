/** Whether a full screen can be drawn; where it cannot, verbs print a table. */
import type { Context } from '../context.ts';

/** The part of a command that this needs. */
export interface DrawingCommand {
  readonly context: Context;
  readonly format: string;
  /** Whether stdout is coloured: not with `NO_COLOR`, `TERM=dumb` or `--no-color`. */
  readonly color: boolean;
}

/** A terminal to read from and to draw on, colours, and no other format asked for. */
export function canDraw({ context, format, color }: DrawingCommand): boolean {
  const { stdin, stdout } = context.io;
  return (format === 'table' || format === 'wide') && color && stdin.isTTY && stdout.isTTY;
}
