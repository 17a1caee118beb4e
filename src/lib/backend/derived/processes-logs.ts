/** The log of a background process, made from exec. Back-pressure of the reader reaches the sandbox. */
import { SbxError } from '../../errors.ts';
import script from '../../guest/logs.sh';
import { type LogHead, parseLogHead } from '../../guest/logs.ts';
import { type LogClock, logClock } from '../../guest/logs-index.ts';
import type { Call, LogChunk, LogOptions } from '../contract.ts';
import { type ExecSandbox, startGuest } from './run-guest.ts';

const NOT_FOUND = 10;

/** Streams the log of the process `id`, which the user called `ref`. `not_found` when there is no such record. */
export async function* deriveLogs(
  sandbox: ExecSandbox,
  ref: string,
  id: string,
  options: LogOptions,
  call: Call,
): AsyncGenerator<LogChunk, void, void> {
  const { follow, tail, since, until } = options;
  const seconds = (time: number | undefined) =>
    time === undefined ? '' : String(Math.max(0, Math.floor(time / 1000)));
  const args = [
    id,
    follow ? 'follow' : '',
    tail === undefined ? '' : String(tail),
    seconds(since),
    seconds(until),
  ];
  const guest = await startGuest(sandbox, 'sbx-logs', script, args, call);
  guest.stderr.resume();
  const stop = () => void guest.terminate(0).catch(() => guest.stdout.destroy());
  call.signal.addEventListener('abort', stop);
  let ended = false;
  try {
    let before: Buffer = Buffer.alloc(0);
    let found: { readonly head: LogHead; readonly clock: LogClock; readonly skew: number } | undefined;
    for await (let data of guest.stdout as AsyncIterable<Buffer>) {
      if (found === undefined) {
        before = Buffer.concat([before, data]);
        const parsed = parseLogHead(before);
        if (parsed === undefined) continue;
        if (parsed === 'malformed')
          throw new SbxError('failed', `sandbox '${sandbox.name}' answered with no log of process '${ref}'`);
        const { head, rest } = parsed;
        found = { head, clock: logClock(head.samples, head.start), skew: head.now - Date.now() };
        data = rest;
      }
      // What no sample covers yet is being written now, by the sandbox's clock.
      yield* found.clock.stamp(data, Date.now() + found.skew);
    }
    ended = true;
    const exit = await guest.wait();
    if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted while reading a log');
    if ('code' in exit && exit.code === NOT_FOUND) {
      throw new SbxError('not_found', `there is no process '${ref}' in sandbox '${sandbox.name}'`, {
        hint: `sbx ps ${sandbox.name} --all`,
      });
    }
    // A follower that was killed saw its sandbox stop: the log ends there, and that is no failure of reading it.
    if ('code' in exit && exit.code !== 0)
      throw new SbxError('failed', `the log of process '${ref}' could not be read to its end`);
    if (found === undefined && 'code' in exit)
      throw new SbxError('failed', `sandbox '${sandbox.name}' gave no log of process '${ref}'`);
  } finally {
    call.signal.removeEventListener('abort', stop);
    if (!ended) await guest.terminate(0);
  }
}
