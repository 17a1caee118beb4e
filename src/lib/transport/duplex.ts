/** Makes one duplex stream of the two ends of a process. */
import { Duplex, type Readable, type Writable } from 'node:stream';

export interface DuplexParts {
  readonly readable: Readable;
  readonly writable: Writable;
  /** Called once when the duplex is destroyed, ended properly or not. */
  readonly release: () => void;
  /** Asked when `readable` has ended: whether that was meant. false: the connection broke. */
  readonly intact: Promise<boolean>;
}

/** A duplex whose directions end apart and obey back-pressure; destroying it destroys both parts. */
export function duplexOf({ readable, writable, release, intact }: DuplexParts): Duplex {
  const duplex = new Duplex({
    allowHalfOpen: true,
    read() {
      readable.resume();
    },
    write(chunk: Buffer, _encoding, done) {
      if (writable.destroyed) done(Object.assign(new Error('the other side is closed'), { code: 'EPIPE' }));
      else writable.write(chunk, done);
    },
    final(done) {
      if (writable.destroyed) done();
      else writable.end(() => done());
    },
    destroy(error, done) {
      readable.destroy();
      writable.destroy();
      release();
      done(error);
    },
  });
  readable.pause();
  readable.on('data', (chunk: Buffer) => {
    if (!duplex.push(chunk)) readable.pause();
  });
  readable.on('end', async () => {
    if (await intact) duplex.push(null);
    else duplex.destroy(broken());
  });
  readable.on('error', (error) => duplex.destroy(error));
  readable.on('close', () => {
    if (!readable.readableEnded) duplex.destroy(broken());
  });
  // A write that fails is reported through its own callback.
  writable.on('error', (error) => duplex.writableFinished || duplex.destroy(error));
  return duplex;
}

function broken(): Error {
  return Object.assign(new Error('the connection broke'), { code: 'ECONNRESET' });
}
