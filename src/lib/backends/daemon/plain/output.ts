/** One output of a command, which comes as lines of base64. guest/exec-text.sh. */
import { Readable } from 'node:stream';
import { cutAt } from './mark.ts';

/** Characters that guest/exec-text.sh sends without being asked, less one piece; and those that each request is good for. */
const ASKED = 1024 * 1024;
/** Bytes that wait for a reader. */
const WAITING = 256 * 1024;

export interface TextOutput {
  readonly stream: Readable;
  /** A piece of text as the server sent it. @returns the lines that are no base64 */
  take(text: string): readonly string[];
  /** Nothing more comes, and its end was not among what came. */
  fail(error: Error): void;
  /** Resolves when the command's end stood in it, or nobody reads it. */
  readonly ended: Promise<void>;
}

export interface TextOutputOptions {
  /** What the command's end stands as. */
  readonly end: string;
  /** Asks for more. */
  readonly more: () => void;
  /** The reader went away before the end. */
  readonly onReaderGone: () => void;
}

export function textOutput({ end, more, onReaderGone }: TextOutputOptions): TextOutput {
  const ended = Promise.withResolvers<void>();
  const cut = cutAt(end);
  let line = '';
  let owed = 0;
  let over = false;
  let isFull = false;
  const ask = () => {
    if (isFull || over) return;
    for (; owed >= ASKED; owed -= ASKED) more();
  };
  const stream: Readable = new Readable({
    highWaterMark: WAITING,
    read() {
      isFull = false;
      ask();
    },
    destroy(error, done) {
      if (!over) onReaderGone();
      over = true;
      ended.resolve();
      done(error);
    },
  });
  // Whoever reads it hears of it, and whoever waits for the command.
  stream.on('error', () => undefined);
  const finish = () => {
    over = true;
    stream.push(null);
    ended.resolve();
  };
  return {
    stream,
    ended: ended.promise,
    fail(error) {
      if (over) return;
      over = true;
      stream.destroy(error);
    },
    take(text) {
      const lines = `${line}${text}`.split('\n');
      line = lines.pop() ?? '';
      const isData = (each: string) => /^[A-Za-z0-9+/]+={0,2}$/.test(each);
      const data = Buffer.concat(lines.filter(isData).map((each) => Buffer.from(each, 'base64')));
      if (data.length > 0 && !over) {
        const { before, after } = cut(data);
        if (before.length > 0 && !stream.push(before)) isFull = true;
        if (after !== undefined) finish();
        owed += text.length;
        ask();
      }
      return lines.filter((each) => !isData(each));
    },
  };
}
