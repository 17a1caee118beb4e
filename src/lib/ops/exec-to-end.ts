/** Runs a command in a sandbox to its end, its output going to one sink as it comes. */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Call, ExecSpec, Exit, Sandbox } from '../backend/contract.ts';
import { hasErrno, SbxError } from '../errors.ts';

/** What is fed in and where the output goes. */
export interface ToEndOptions {
  readonly stdin?: Readable;
  /** Standard output and standard error alike. */
  output(data: Uint8Array): void;
}

/** Resolves with how it ended. An interrupt ends the command and rejects. */
export async function execToEnd(
  sandbox: Pick<Sandbox, 'exec' | 'backend'>,
  spec: Omit<ExecSpec, 'stdin' | 'terminal' | 'handOver'>,
  { stdin, output }: ToEndOptions,
  call: Call,
): Promise<Exit> {
  const running = await sandbox.exec({ ...spec, stdin: stdin === undefined ? 'none' : 'pipe' }, call);
  const { stdout, stderr, stdin: input } = running;
  if (stdout === undefined || stderr === undefined || (stdin !== undefined && input === undefined)) {
    throw new SbxError('bug', `backend '${sandbox.backend}' gave no streams for a command`);
  }
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= running.terminate(STOP_GRACE_MS);
  };
  call.signal.addEventListener('abort', stop);
  if (call.signal.aborted) stop();
  try {
    const [exit] = await Promise.all([
      running.wait(),
      drain(stdout, output),
      drain(stderr, output),
      stdin === undefined || input === undefined ? undefined : feed(stdin, input),
    ]);
    await stopped;
    call.signal.throwIfAborted();
    return exit;
  } catch (error) {
    stop();
    await stopped;
    // A command that we ended may look like a failure of the backend.
    call.signal.throwIfAborted();
    throw error;
  } finally {
    call.signal.removeEventListener('abort', stop);
  }
}

const STOP_GRACE_MS = 2000;

async function drain(stream: Readable, output: (data: Uint8Array) => void): Promise<void> {
  for await (const data of stream as AsyncIterable<Uint8Array>) output(data);
}

/** What a stream says when the other side of it has gone. */
const GONE = [
  'EPIPE',
  'ECONNRESET',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_UNABLE_TO_PIPE',
] as const;

/** A command that ends without reading everything says why by its exit code, not by this. */
async function feed(from: Readable, to: NodeJS.WritableStream): Promise<void> {
  try {
    await pipeline(from, to);
  } catch (error) {
    if (!hasErrno(error, ...GONE)) throw error;
  }
}
