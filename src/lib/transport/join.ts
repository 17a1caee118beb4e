/** Joins two byte streams into one connection. */
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/**
 * Carries bytes both ways until both directions have ended. The end of one direction ends that direction alone;
 * a slow reader holds its writer back; a broken side breaks the other one. Both must allow half-open.
 * Resolves when both are closed, with the error that broke them, if one did.
 */
export function joinStreams(a: Duplex, b: Duplex): Promise<Error | undefined> {
  let failure: Error | undefined;
  const closed = (from: Duplex, to: Duplex) =>
    new Promise<void>((resolve) => {
      from.on('error', (error) => {
        failure ??= error;
      });
      const settle = () => {
        const complete = from.readableEnded && (from.writableFinished || to.readableEnded);
        if (!complete) breakStream(to);
        resolve();
      };
      if (from.closed) settle();
      else from.once('close', settle);
    });
  const done = Promise.all([closed(a, b), closed(b, a)]);
  a.pipe(b);
  b.pipe(a);
  return done.then(() => failure);
}

/** Closes at once; the peer of a TCP connection sees a reset and cannot take it for a proper end. */
export function breakStream(stream: Duplex): void {
  if (stream.destroyed) return;
  if (stream instanceof Socket) stream.resetAndDestroy();
  else stream.destroy();
}
