/** The log of a container's process 1, which the engine keeps. Docker Engine API, "ContainerLogs". */
import type { Call, LogChunk, LogOptions } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { dockerStreamParser } from '../../wire/docker-stream.ts';
import type { Box } from './box.ts';
import { segment } from './engine.ts';
import { inspectBox } from './snapshots.ts';

/** Longest time that stands before a line, with its space: RFC 3339 with nanoseconds and an offset. */
const TIME_LIMIT = 40;
const SPACE = 0x20;

/** Streams it. Following ends when the container does. */
export async function* engineLog(
  box: Box,
  options: LogOptions,
  call: Call,
): AsyncGenerator<LogChunk, void, void> {
  const { Config } = await inspectBox(box, call);
  // What a terminal printed has no frames to tell a time from a line.
  const framed = Config.Tty !== true;
  const { follow, tail, since, until } = options;
  const seconds = (at: number | undefined) => (at === undefined ? undefined : (at / 1000).toFixed(3));
  const { body } = await box.docker.engine.send(
    {
      method: 'GET',
      path: `/containers/${segment(box.container)}/logs`,
      query: {
        ...{ stdout: true, stderr: true, follow, timestamps: framed },
        ...{ tail: tail ?? 'all', since: seconds(since), until: seconds(until) },
      },
      what: `read the log of sandbox '${box.name}'`,
    },
    call,
  );
  let found: LogChunk[] = [];
  const take = framed ? timedFrames((chunk) => found.push(chunk)) : (data: Buffer) => found.push({ data });
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      take(part);
      yield* found;
      found = [];
    }
  } catch (error) {
    if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted while reading a log');
    throw error;
  } finally {
    body.destroy();
  }
}

/** Takes apart frames that each begin with the time of what they hold. */
function timedFrames(onChunk: (chunk: LogChunk) => void): (data: Uint8Array) => void {
  let head: Buffer | undefined;
  let time: number | undefined;
  return dockerStreamParser((_stream, piece, starts) => {
    if (starts) head = Buffer.alloc(0);
    if (head === undefined) {
      onChunk({ data: piece, time });
      return;
    }
    head = Buffer.concat([head, piece]);
    const end = head.indexOf(SPACE);
    if (end < 0 && head.length < TIME_LIMIT) return;
    const at = Date.parse(head.toString('latin1', 0, Math.max(0, end)));
    time = Number.isNaN(at) ? undefined : at;
    onChunk({ data: head.subarray(time === undefined ? 0 : end + 1), time });
    head = undefined;
  });
}
