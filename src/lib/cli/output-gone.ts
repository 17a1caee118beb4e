import { hasErrno } from '../errors.ts';
import { OutputClosed } from './io.ts';

/** Runs what streams to stdout; a reader that has gone (`| head`) ends it as quietly as it ends `Output.write`. */
export async function untilOutputGone<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (cause) {
    if (hasErrno(cause, 'EPIPE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_PREMATURE_CLOSE')) {
      throw new OutputClosed('stdout is closed');
    }
    throw cause;
  }
}
