/**
 * The time index of a log: how long it was at which second. Turns positions into times and times into positions.
 * The sandbox writes it: lines that make no sense are skipped.
 */

/** Most bytes of an index that are read. */
export const INDEX_LIMIT = 256 * 1024;

/** One sample: at `time` (epoch milliseconds) the log was `size` bytes long. */
export interface LogSample {
  readonly time: number;
  readonly size: number;
}

const LINE = /^(\d{1,12}) (\d{1,15})$/;

/** The samples of the log as it is now: those from before it was truncated do not count. */
export function parseLogIndex(text: string): LogSample[] {
  let samples: LogSample[] = [];
  for (const line of text.split('\n')) {
    const match = LINE.exec(line);
    if (match === null) continue;
    const sample = { time: Number(match[1]) * 1000, size: Number(match[2]) };
    const last = samples.at(-1);
    if (last !== undefined && sample.size < last.size) samples = [];
    samples.push(sample);
  }
  return samples;
}

/** How many bytes were there before `time`: what came from then on starts there. */
export function sizeBefore(samples: readonly LogSample[], time: number): number {
  return samples.findLast((sample) => sample.time < time)?.size ?? 0;
}

/** How many bytes were there at `time`; undefined when that is all there ever was. */
export function sizeAt(samples: readonly LogSample[], time: number): number | undefined {
  const after = samples.findIndex((sample) => sample.time > time);
  if (after < 0) return undefined;
  return samples[after - 1]?.size ?? 0;
}

/** Gives each piece of a log, read in order, its time, cutting it where the time changes. */
export interface LogClock {
  /** Pieces of `data` with their times. `now` is that of bytes that no sample covers. */
  stamp(
    data: Uint8Array,
    now: number | undefined,
  ): Iterable<{ readonly data: Uint8Array; readonly time?: number }>;
  /** From here on the log is read from `position`, by other samples: it was truncated. */
  restart(position: number, samples: readonly LogSample[]): void;
}

/** A clock for a log that is read from `start`. */
export function logClock(samples: readonly LogSample[], start: number): LogClock {
  let known = samples;
  let position = start;
  let at = 0;
  return {
    *stamp(data, now) {
      let done = 0;
      while (done < data.length) {
        while (at < known.length && (known[at]?.size ?? 0) <= position) at++;
        const sample = known[at];
        const time = sample?.time ?? now;
        const end = sample === undefined ? data.length : Math.min(data.length, done + sample.size - position);
        yield { data: data.subarray(done, end), ...(time === undefined ? {} : { time }) };
        position += end - done;
        done = end;
      }
    },
    restart(from, other) {
      position = from;
      known = other;
      at = 0;
    },
  };
}
