/** What all screens are made of. Pure: text in, elements out. Every text is escaped and cut before it gets here or by what is here. */
import { Box, Text } from 'ink';
import type { ReactElement, ReactNode } from 'react';
import { paint, type Style } from '../color.ts';
import { type Column, table } from '../table.ts';
import { pad, truncate, visible, width } from '../text.ts';
import { firstShown } from './choose.ts';
import { LEAST_SIZE, type Preview, type Size, type Surroundings } from './screen.ts';

/** Lines of text, one below the other; each is cut where the box ends. */
export function Lines({ lines }: { readonly lines: readonly string[] }): ReactElement {
  return (
    <Box flexDirection="column">
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place on the screen
        <Text key={at} wrap="truncate">
          {line === '' ? ' ' : line}
        </Text>
      ))}
    </Box>
  );
}

/** A line from edge to edge in inverse. Escapes what it is given. */
export function bar(left: string, right: string, cols: number): string {
  const end = truncate(visible(right), Math.max(0, cols - 2));
  const room = Math.max(0, cols - width(end) - (end === '' ? 0 : 1));
  return `\u001b[7m${pad(truncate(visible(left), room), cols - width(end))}${end}\u001b[27m`;
}

/** A text from elsewhere in one line and one style. */
export function line(text: string, cols: number, style?: Style): string {
  return paint(truncate(visible(text), cols), style, true);
}

interface FrameProps {
  readonly size: Size;
  readonly title: string;
  /** On the right of the title. */
  readonly facts: string;
  /** The last line: what can be typed, or what has happened. Escaped already. */
  readonly foot: string;
  readonly children: ReactNode;
}

/** A title, a body, and a line at the bottom; or that the window is too small. */
export function Frame({ size, title, facts, foot, children }: FrameProps): ReactElement {
  if (size.cols < LEAST_SIZE.cols || size.rows < LEAST_SIZE.rows) return <TooSmall size={size} />;
  return (
    <Box flexDirection="column" width={size.cols} height={size.rows}>
      <Text wrap="truncate">{bar(` ${title}`, `${facts} `, size.cols)}</Text>
      <Box height={size.rows - 2} width={size.cols}>
        {children}
      </Box>
      <Text wrap="truncate">{foot === '' ? ' ' : foot}</Text>
    </Box>
  );
}

function TooSmall({ size }: { readonly size: Size }): ReactElement {
  const said = `too small: ${LEAST_SIZE.cols}x${LEAST_SIZE.rows} is needed`;
  const texts = [said, 'too small', 'small', ''];
  return <Text wrap="truncate">{texts.find((text) => text.length <= size.cols) || ' '}</Text>;
}

interface TableOptions {
  readonly cols: number;
  /** With the line of the headers. */
  readonly rows: number;
  /** The chosen row; -1 for none. */
  readonly at: number;
  readonly now: Date;
  readonly wide?: boolean;
}

/** The part of a table that fits, around the chosen row, which is inverse. Escapes what is in it. */
export function tableLines<Row>(
  all: readonly Row[],
  columns: readonly Column<Row>[],
  { cols, rows, at, now, wide = false }: TableOptions,
): readonly string[] {
  const room = Math.max(1, rows - 1);
  const first = firstShown(Math.max(0, at), all.length, room);
  const shown = all.slice(first, first + room);
  const draw = (color: boolean) =>
    table(shown, columns, { columns: cols, color, now, wide }).trimEnd().split('\n');
  const lines = draw(true);
  const chosen = at < 0 ? undefined : draw(false)[at - first + 1];
  if (chosen !== undefined) lines[at - first + 1] = `\u001b[7m${pad(truncate(chosen, cols), cols)}\u001b[27m`;
  return lines;
}

interface PreviewProps {
  readonly size: Size;
  readonly title: string;
  readonly surroundings: Surroundings;
}

/** The screen of a session below its title. */
export function PreviewPane({ size, title, surroundings }: PreviewProps): ReactElement {
  const crop = { cols: size.cols, rows: size.rows - 1 };
  const { lines, size: own, message }: Preview = surroundings.preview(crop);
  const facts = own === undefined ? '' : `${own.cols}x${own.rows}`;
  const head = `${title}${facts === '' ? '' : `  ${facts}`}`;
  return (
    <Box flexDirection="column" width={size.cols} height={size.rows}>
      <Text wrap="truncate">{line(head, size.cols, 'bold')}</Text>
      <Lines lines={message === undefined ? lines : [line(message, size.cols, 'dim')]} />
    </Box>
  );
}

/** A line down between two panes. */
export function Rule({ rows }: { readonly rows: number }): ReactElement {
  return (
    <Box marginX={1}>
      <Lines lines={Array.from({ length: rows }, () => paint('│', 'dim', true))} />
    </Box>
  );
}

/** What the keys do, a line each. */
export function HelpLines({ keys }: { readonly keys: readonly (readonly [string, string])[] }): ReactElement {
  const most = Math.max(...keys.map(([key]) => width(key)));
  return <Lines lines={keys.map(([key, text]) => `  ${paint(pad(key, most), 'bold', true)}  ${text}`)} />;
}

/** `Enter attach  q quit`, as much of it as fits. */
export function keyLine(keys: readonly (readonly [string, string])[], cols: number): string {
  let text = '';
  let used = 0;
  for (const [key, does] of keys) {
    const next = (used === 0 ? 1 : 2) + width(key) + 1 + width(does);
    if (used + next > cols) break;
    text += `${used === 0 ? ' ' : '  '}${paint(key, 'bold', true)} ${does}`;
    used += next;
  }
  return text;
}
