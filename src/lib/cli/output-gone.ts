import type { Writable } from 'node:stream';
import { hasErrno } from '../errors.ts';
import { OutputClosed } from './io.ts';

/** Runs what streams to `output`; a reader that has gone (`| head`) ends it as quietly as it ends `Output.write`. */
export async function untilOutputGone<T>(output: Writable, run: () => Promise<T>): Promise<T> {
  // The process's own stdout forgets its error as soon as it has told it.
  let hasToldSo = false;
  const onError = (error: Error) => {
    hasToldSo ||= hasErrno(error, 'EPIPE');
  };
  output.on('error', onError);
  try {
    return await run();
  } catch (cause) {
    const isOver = hasToldSo || isGone(output);
    if (isOver && hasErrno(cause, 'EPIPE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_PREMATURE_CLOSE'))
      throw new OutputClosed('stdout is closed');
    throw cause;
  } finally {
    output.off('error', onError);
  }
}

/** Not one that was given up because its source failed: that failure is its error then. */
function isGone({ errored, destroyed }: Writable): boolean {
  return errored === null ? destroyed : hasErrno(errored, 'EPIPE');
}
