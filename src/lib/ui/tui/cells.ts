/** The screen of an emulated terminal as lines that Ink can show: text and colours, nothing else. Pure. */
import type { IBufferCell, Terminal } from '@xterm/headless';

/** A part of the screen. */
export interface Crop {
  readonly cols: number;
  readonly rows: number;
}

const RESET = '\u001b[0m';
/** Marks of text direction, joiners and selectors change what stands beside them. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|\p{Variation_Selector}/gu;

/**
 * The part of the screen around its cursor, cropped rather than scaled: from the top when the cursor is in it, else the
 * lines that end at the cursor; from the left. Every line begins and ends without colour.
 * @param cursor whether to show it, as an inverse cell.
 */
export function screenLines(terminal: Terminal, { cols, rows }: Crop, cursor: boolean): readonly string[] {
  const { active } = terminal.buffer;
  const first = Math.max(0, Math.min(active.cursorY - rows + 1, terminal.rows - rows));
  const cell = active.getNullCell();
  return Array.from({ length: Math.min(rows, terminal.rows) }, (_, row) => {
    const y = first + row;
    const at = cursor && y === active.cursorY ? Math.min(active.cursorX, terminal.cols - 1) : -1;
    return lineText(active.getLine(active.baseY + y), Math.min(cols, terminal.cols), at, cell);
  });
}

type Line = ReturnType<Terminal['buffer']['active']['getLine']>;

function lineText(line: Line, cols: number, cursor: number, cell: IBufferCell): string {
  if (line === undefined) return '';
  let text = '';
  let style = '';
  // Blanks at the end are left out: whoever draws pays for each.
  let end = 0;
  let open = false;
  for (let x = 0; x < cols; x++) {
    if (line.getCell(x, cell) === undefined) break;
    const size = cell.getWidth();
    if (size === 0) continue;
    const fits = x + size <= cols;
    const chars = fits ? cell.getChars().replace(UNSAFE, '') || ' ' : ' ';
    const next = styleOf(cell, x === cursor);
    if (next !== style) {
      text += next === '' ? RESET : `${RESET}${next}`;
      style = next;
    }
    text += cell.isInvisible() ? ' '.repeat(fits ? size : 1) : chars;
    if (chars === ' ' && next === '') continue;
    end = text.length;
    open = next !== '';
  }
  return `${text.slice(0, end)}${open ? RESET : ''}`;
}

function styleOf(cell: IBufferCell, isCursor: boolean): string {
  if (!isCursor && cell.isAttributeDefault()) return '';
  const codes: (number | string)[] = [];
  if (cell.isBold()) codes.push(1);
  if (cell.isDim()) codes.push(2);
  if (cell.isItalic()) codes.push(3);
  if (cell.isUnderline()) codes.push(4);
  if ((cell.isInverse() !== 0) !== isCursor) codes.push(7);
  if (cell.isStrikethrough()) codes.push(9);
  if (cell.isFgRGB()) codes.push(rgb(38, cell.getFgColor()));
  else if (cell.isFgPalette()) codes.push(palette(30, cell.getFgColor()));
  if (cell.isBgRGB()) codes.push(rgb(48, cell.getBgColor()));
  else if (cell.isBgPalette()) codes.push(palette(40, cell.getBgColor()));
  return codes.length === 0 ? '' : `\u001b[${codes.join(';')}m`;
}

function rgb(base: number, color: number): string {
  return `${base};2;${(color >> 16) & 255};${(color >> 8) & 255};${color & 255}`;
}

function palette(base: number, color: number): number | string {
  if (color < 8) return base + color;
  return color < 16 ? base + 60 + color - 8 : `${base + 8};5;${color}`;
}
