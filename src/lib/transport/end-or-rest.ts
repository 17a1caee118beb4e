/** The end of an output whose command has ended. */
import type { Readable } from 'node:stream';

/** How long a stream may stay open behind a command that has ended, in milliseconds without a byte. */
const GRACE_MS = 100;

/** Resolves when all that the command wrote has been read; a process that stays behind does not hold the stream open. */
export function endOrRest(stream: Readable | undefined): Promise<void> {
  if (stream === undefined || stream.readableEnded || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout;
    let seen = -1;
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    const look = () => {
      const read = 'bytesRead' in stream ? Number(stream.bytesRead) : 0;
      const readerIsBusy = stream.readableLength >= stream.readableHighWaterMark;
      if (!readerIsBusy && read === seen) stream.push(null);
      seen = read;
      timer = setTimeout(look, GRACE_MS);
    };
    stream.once('end', done);
    stream.once('close', done);
    stream.once('error', done);
    timer = setTimeout(look, GRACE_MS);
  });
}
