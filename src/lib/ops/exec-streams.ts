/** Moves bytes between local streams and a command's, with back-pressure and without an end where there was none. */
import { type Readable, Writable } from 'node:stream';
import type { Input, Output } from '../cli/io.ts';
import { hasErrno, SbxError } from '../errors.ts';
import { kindOf, mayBeHandedOver } from './exec-descriptors.ts';

/** How the copying of an output ended. */
export type Copied = 'all' | 'reader gone';

/**
 * Copies `source` to the stream that `open` gives until its end, and resolves when the last byte has left. That stream
 * is opened at the first byte, because opening one takes longer than many a command that prints nothing; it is not ended.
 * @throws SbxError `failed` when it cannot be written, or whatever `source` failed with.
 */
export function copyOutput(source: Readable, open: () => Writable): Promise<Copied> {
  return new Promise((settle, reject) => {
    let sink: Writable | undefined;
    const onSinkError = (error: Error) => {
      source.unpipe(sink);
      if (hasErrno(error, 'EPIPE', 'EIO', 'ERR_STREAM_DESTROYED')) settle('reader gone');
      else if (error instanceof SbxError) reject(error);
      else reject(new SbxError('failed', `cannot write the output (${error.message})`, { cause: error }));
    };
    source.once('error', reject);
    source.once('end', () => {
      if (sink === undefined) return settle('all');
      // The callback of an empty write comes after those of all writes before it.
      sink.write('', (error) => {
        if (error) return onSinkError(error);
        sink?.off('error', onSinkError);
        settle('all');
      });
    });
    source.once('close', () => {
      if (!source.readableEnded && source.errored === null) settle('all');
    });
    source.once('data', (first: Buffer) => {
      try {
        sink = open();
      } catch (error) {
        return reject(error);
      }
      sink.on('error', onSinkError);
      sink.write(first);
      source.pipe(sink, { end: false });
    });
  });
}

/** A local input that is being forwarded. */
export interface Forwarding {
  /** Reads no more of the local input; what the command left unread is lost, as it is with a pipe. */
  stop(): void;
  /** Rejects when the local input cannot be read; never resolves. */
  readonly failed: Promise<never>;
}

/** Forwards `input` to a command's `sink`, its end included. A command that reads no more is no failure. */
export function forwardInput(input: Input, sink: Writable): Forwarding {
  const source = input.stream();
  const failed = new Promise<never>((_settle, reject) => {
    source.once('error', (error) => {
      sink.end();
      // A terminal that went away is the end of input.
      if (!hasErrno(error, 'EIO')) {
        reject(new SbxError('failed', `cannot read the input (${error.message})`, { cause: error }));
      }
    });
    sink.on('error', (error) => {
      source.unpipe(sink);
      if (!hasErrno(error, 'EPIPE', 'ECONNRESET', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END'))
        reject(error);
    });
  });
  // An input that had ended before this call says so no more.
  if (source.readableEnded) sink.end();
  else source.pipe(sink);
  return {
    failed,
    stop() {
      source.unpipe(sink);
      source.pause();
    },
  };
}

/** The stream to write an output to. Files and devices are written at once, which cannot block for long; the rest with back-pressure. */
export function sinkOf(output: Output): Writable {
  if (output.fd === undefined || output.isTTY || kindOf(output.fd) !== 'file') return output.stream();
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      try {
        output.write(chunk);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
}

/** The descriptor that a command may have as its own; undefined where it gets a pipe of ours. */
export function handedOver(stream: Input | Output): number | undefined {
  return stream.fd !== undefined && mayBeHandedOver(stream.fd) ? stream.fd : undefined;
}
