/**
 * Attaching to a session through exec alone: a relay inside leads to dtach's socket, made from python3 or perl; where
 * there is neither, dtach's own client runs on a terminal, and what it adds to the output is taken out again.
 */
import type { Duplex } from 'node:stream';
import { SbxError } from '../../errors.ts';
import attachScript from '../../guest/session-attach.sh';
import { attachReport } from '../../guest/session-attach.ts';
import commonScript from '../../guest/session-common.sh';
import { dtachChannel } from '../../transport/dtach-channel.ts';
import { duplexOf } from '../../transport/duplex.ts';
import { randomHex } from '../../util/random-id.ts';
import type { AttachOptions, Call, ChannelEnd, Exit, SessionChannel } from '../contract.ts';
import { type ExecSandbox, type GuestProcess, startGuest } from './run-guest.ts';
import { attachError } from './session-errors.ts';
import { attachOnTerminal } from './session-terminal.ts';

const NO_RELAY = 12;
const SCRIPT = `${commonScript}\n${attachScript}`;

/** Opens a channel to session `name`. */
export async function deriveAttach(
  sandbox: ExecSandbox,
  name: string,
  options: AttachOptions,
  call: Call,
): Promise<SessionChannel> {
  const mark = `sbx-${randomHex(16)}`;
  const word = options.takeOver ? randomHex(16) : '';
  const running = await startGuest(sandbox, 'sbx-attach', SCRIPT, [name, 'relay', word, mark], call, {
    stdin: 'pipe',
  });
  const report = listen(running, mark, call.signal);
  const stop = () => {
    // The channel is over whatever comes of it.
    running.terminate(0).catch(() => undefined);
  };
  if (await report.connected) {
    if (!call.signal.aborted) {
      const link = { stream: duplexOfProcess(running, stop), howEnded: () => report.end, release: stop };
      return dtachChannel(link, options).channel;
    }
    stop();
    throw new SbxError('interrupted', 'interrupted');
  }
  running.stdout.resume();
  const exit = await running.wait();
  const code = codeOf(exit);
  if (code === NO_RELAY)
    return await attachOnTerminal(sandbox, name, { ...options, script: SCRIPT, word, mark }, call);
  throw attachError(sandbox.name, name, code, report.text(), mark);
}

function duplexOfProcess({ stdin, stdout }: GuestProcess, release: () => void): Duplex {
  if (stdin === undefined) throw new SbxError('bug', 'there is no input stream for a guest program');
  return duplexOf({
    readable: stdout,
    writable: stdin,
    release: () => undefined,
    intact: Promise.resolve(true),
  }).on('close', release);
}

/** Most characters of what the relay says that are looked at. */
const REPORT_LIMIT = 4096;

/** Hears what the relay says. All of it is read, so that it never blocks on it. */
function listen({ stderr }: GuestProcess, mark: string, signal: AbortSignal) {
  const connected = Promise.withResolvers<boolean>();
  const end = Promise.withResolvers<ChannelEnd>();
  let text = '';
  const abort = () => connected.resolve(true);
  signal.addEventListener('abort', abort, { once: true });
  stderr.on('data', (part: Buffer) => {
    if (text.length > REPORT_LIMIT) return;
    text += part.toString('latin1');
    const said = attachReport(text, mark);
    if (said.connected) connected.resolve(true);
    if (said.end !== undefined) end.resolve(said.end);
  });
  const broken = (error: Error) => {
    connected.resolve(false);
    end.resolve({ reason: 'lost', error });
  };
  stderr.on('error', broken);
  stderr.on('close', () => {
    signal.removeEventListener('abort', abort);
    broken(new Error('the connection to the sandbox broke'));
  });
  return { connected: connected.promise, end: end.promise, text: () => text };
}

function codeOf(exit: Exit): number | undefined {
  return 'code' in exit ? exit.code : undefined;
}
