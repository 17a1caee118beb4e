/** The end of what a command prints, in bounded memory. */
import { stripVTControlCharacters } from 'node:util';
import { visible } from '../ui/text.ts';

const KEPT_BYTES = 8192;
const KEPT_LINES = 20;

/** Keeps the last lines of what is added. */
export class OutputTail {
  #kept: Buffer = Buffer.alloc(0);
  #cut = false;

  add(data: Uint8Array): void {
    const all = Buffer.concat([this.#kept, data]);
    this.#cut ||= all.length > KEPT_BYTES;
    this.#kept = all.subarray(-KEPT_BYTES);
  }

  clear(): void {
    this.#kept = Buffer.alloc(0);
    this.#cut = false;
  }

  /** The last lines that are not empty, safe to show, a line that was drawn over as it was in the end. */
  lines(): string[] {
    const lines = this.#kept.toString().split('\n');
    // It may begin in the middle of a line, of a character or of an escape code.
    if (this.#cut && lines.length > 1) lines.shift();
    return lines
      .map((line) => visible(afterReturns(stripVTControlCharacters(line))).trimEnd())
      .filter((line) => line !== '')
      .slice(-KEPT_LINES);
  }
}

function afterReturns(line: string): string {
  return line.split('\r').findLast((part) => part.trim() !== '') ?? '';
}
