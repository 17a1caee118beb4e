/** A terminal in memory to ask questions on: keys in, the text of the screen's bytes out. */
import { type PassThrough, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { vi } from 'vitest';
import { type MemoryIo, memoryIo, typedInput } from '../../src/lib/cli/memory-io.ts';

export interface TypedTerminal {
  readonly io: MemoryIo;
  readonly keys: PassThrough;
  /** All that was shown, without colours and cursor movements. */
  shown(): string;
  /** All that was shown, byte for byte. */
  raw(): string;
  /** Waits until `text` has been shown, then types. */
  answer(text: string, keys: string): Promise<void>;
}

export const KEYS = { down: '\u001b[B', enter: '\r', ctrlC: '\u0003', ctrlD: '\u0004' } as const;

export function typedTerminal(): TypedTerminal {
  const chunks: string[] = [];
  const input = typedInput();
  const memory = memoryIo({ tty: true });
  // A new one for each question, for it ends with the question, as the streams of a process do not.
  const screen = () =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        chunks.push(String(chunk));
        done();
      },
    });
  const raw = () => chunks.join('');
  const shown = () => stripVTControlCharacters(raw());
  let seen = 0;
  return {
    io: {
      stdin: input,
      stdout: memory.stdout,
      stderr: Object.assign(memory.stderr, { stream: screen }),
    },
    keys: input.keys,
    raw,
    shown,
    async answer(text, keys) {
      await vi.waitFor(() => {
        const at = shown().indexOf(text, seen);
        if (at < 0)
          throw new Error(`${JSON.stringify(text)} is not among ${JSON.stringify(shown().slice(seen))}`);
      }, 20_000);
      seen = shown().length;
      input.keys.write(keys);
    },
  };
}
