/** A command's output that ends soon after the command, also when a process that it left behind keeps the pipe open. */
import { Readable } from 'node:stream';

/** How long, after the command has ended, silence counts as the end, in milliseconds. */
const SILENCE = 150;

/**
 * Passes `source` on with back-pressure. Once `exited` has resolved, silence ends the stream; data that waits for a slow reader is never cut.
 * `done` resolves when all has been taken from `source`.
 */
export function readUntilIdle(
  source: Readable,
  exited: Promise<unknown>,
): { stream: Readable; done: Promise<void> } {
  let chunks = 0;
  let finish = (): void => undefined;
  const done = new Promise<void>((settle) => {
    finish = settle;
  });
  const stream = new Readable({
    read: () => source.resume(),
    destroy(error, settle) {
      source.destroy();
      finish();
      settle(error);
    },
  });
  const end = () => {
    if (!stream.destroyed && !stream.readableEnded) stream.push(null);
    finish();
  };
  source.on('data', (chunk: Buffer) => {
    chunks++;
    if (!stream.push(chunk)) source.pause();
  });
  source.once('end', end);
  source.once('error', (error) => stream.destroy(error));
  void exited.then(() => {
    let seen = chunks;
    const timer = setInterval(() => {
      if (!source.isPaused() && chunks === seen) source.destroy();
      seen = chunks;
    }, SILENCE);
    source.once('close', () => {
      clearInterval(timer);
      if (!source.readableEnded) end();
    });
    if (source.closed) clearInterval(timer);
  });
  return { stream, done };
}
