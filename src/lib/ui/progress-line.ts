/** How far something is, as one line. Pure. */
import type { Counted } from '../ops/progress.ts';
import { formatDuration } from '../util/duration.ts';
import { formatSize } from '../util/size.ts';
import { paint } from './color.ts';
import { truncate, visible, width } from './text.ts';

/** What happens now. */
export interface ProgressState {
  readonly step: string;
  /** Milliseconds since everything began, and since the step did. */
  readonly ms: number;
  readonly stepMs: number;
  readonly count: Counted | undefined;
  /** How far the step is, or the last line that a command has printed. */
  readonly said: string | undefined;
}

/** What the line is for. */
export interface ProgressLook {
  readonly columns: number;
  readonly color: boolean;
  readonly unicode: boolean;
  /** Counts the drawings. */
  readonly frame: number;
}

const BRAILLE = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const ASCII = '|/-\\';

/** The line, narrower than the terminal so that it never wraps, and its width in cells. */
export function progressLine(
  { step, ms, stepMs, count, said }: ProgressState,
  { columns, color, unicode, frame }: ProgressLook,
): { readonly text: string; readonly cells: number } {
  const spinner = unicode ? BRAILLE : ASCII;
  const sign = spinner[frame % spinner.length] ?? '';
  const done = count === undefined ? '' : `, ${countText(count)}, ${formatSize(rate(count.bytes, stepMs))}/s`;
  const seconds = formatDuration(Math.floor(ms / 1000) * 1000);
  const last = said === undefined || said === '' ? '' : `: ${said}`;
  const rest = truncate(visible(` ${seconds} ${step}${done}${last}`), Math.max(0, columns - 2));
  return { text: paint(sign, 'cyan', color) + rest, cells: 1 + width(rest) };
}

/** `1 file, 512B`. */
export function countText({ files, bytes }: Counted): string {
  return `${files} ${files === 1 ? 'file' : 'files'}, ${formatSize(bytes)}`;
}

function rate(bytes: number, ms: number): number {
  return ms > 0 ? (bytes * 1000) / ms : 0;
}

/** How long something took: `4.2s`, `1m12s`. */
export function tookText(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)}s` : formatDuration(Math.round(ms / 1000) * 1000);
}
