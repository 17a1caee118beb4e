/** Sends the body of a request in chunks. */
import { finished, type Readable, type Writable } from 'node:stream';

export interface Sending {
  /** Whether all of it has been sent. */
  isDone(): boolean;
  /** Sends no more; what is left of the body is destroyed. */
  stop(): void;
}

/**
 * Copies `body` to `connection`, which stays open. What breaks there is the caller's to hear.
 * @param onFailed the body failed, or went away before its end.
 */
export function sendBody(body: Readable, connection: Writable, onFailed: (error: Error) => void): Sending {
  let done = false;
  const onData = (piece: Buffer | string) => {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    // An empty chunk would end the body.
    if (bytes.length === 0) return;
    // One system call for the three.
    connection.cork();
    connection.write(`${bytes.length.toString(16)}\r\n`, 'latin1');
    connection.write(bytes);
    const takesMore = connection.write('\r\n', 'latin1');
    connection.uncork();
    if (!takesMore) body.pause();
  };
  const onDrain = () => body.resume();
  const leave = () => {
    unwatch();
    body.off('data', onData);
    connection.off('drain', onDrain);
    // Who makes it may complain of being cut; nobody wants it any more.
    body.on('error', () => undefined).destroy();
  };
  const unwatch = finished(body, { writable: false }, (error) => {
    if (error) {
      leave();
      onFailed(error);
      return;
    }
    connection.off('drain', onDrain);
    connection.write('0\r\n\r\n', 'latin1');
    done = true;
  });
  connection.on('drain', onDrain);
  body.on('data', onData);
  return {
    isDone: () => done,
    stop() {
      if (!done) leave();
    },
  };
}
