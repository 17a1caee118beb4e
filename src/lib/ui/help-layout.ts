/** Paragraphs and two-column lists fitted to a width, for help pages. Pure. */
import { pad, width } from './text.ts';

/** A name on the left and what it means on the right. */
export interface HelpRow {
  readonly label: string;
  readonly text: string;
}

/**
 * Breaks paragraphs into lines of at most `columns` cells, the indent included. A word that is longer stays whole,
 * so that it can be copied.
 */
export function wrap(text: string, columns: number, indent = 0): string[] {
  const room = Math.max(1, columns - indent);
  const margin = ' '.repeat(indent);
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = [];
    let line = '';
    for (const word of paragraph.split(' ').filter((each) => each !== '')) {
      const longer = line === '' ? word : `${line} ${word}`;
      if (line !== '' && width(longer) > room) {
        lines.push(margin + line);
        line = word;
      } else line = longer;
    }
    return [...lines, line === '' ? '' : margin + line];
  });
}

/** The fewest cells in which a right column still reads well. */
const NARROW = 24;

/** Cells for the labels of `rows`: one long label must not push every text to the right. */
export function labelWidth(rows: readonly HelpRow[], columns: number): number {
  return Math.min(Math.floor(columns * 0.4), Math.max(0, ...rows.map(({ label }) => width(label))));
}

/** Labels and texts in two columns; where there is no room for that, each text below its label. */
export function twoColumns(
  rows: readonly HelpRow[],
  columns: number,
  left = labelWidth(rows, columns),
): string[] {
  if (columns - left - 4 < NARROW) {
    return rows.flatMap(({ label, text }) => [...wrap(label, columns, 2), ...wrap(text, columns, 4)]);
  }
  return rows.flatMap(({ label, text }) => {
    const [first = '', ...rest] = wrap(text, columns, left + 4);
    const head = `  ${pad(label, left)}  ${first.trimStart()}`.trimEnd();
    return width(label) <= left ? [head, ...rest] : [`  ${label}`, first, ...rest];
  });
}
