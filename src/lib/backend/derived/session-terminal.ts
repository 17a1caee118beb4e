/** Attaching to a session with dtach's own client on a terminal, for sandboxes that have nothing better. */
import { Readable, Writable } from 'node:stream';
import { SbxError } from '../../errors.ts';
import { attachFilter } from '../../guest/attach-filter.ts';
import { attachReport } from '../../guest/session-attach.ts';
import type { AttachOptions, Call, ChannelEnd, SessionChannel, TerminalSize } from '../contract.ts';
import type { ExecSandbox } from './run-guest.ts';
import { attachError } from './session-errors.ts';

/** What the guest program is given. */
export interface TerminalAttach extends AttachOptions {
  readonly script: string;
  /** Makes the other clients leave, unless it is empty. */
  readonly word: string;
  readonly mark: string;
}

/**
 * Opens a channel. dtach's client sets the size also for a client that only reads, which therefore may disturb others.
 */
export async function attachOnTerminal(
  sandbox: ExecSandbox,
  name: string,
  options: TerminalAttach,
  call: Call,
): Promise<SessionChannel> {
  const { script, word, mark, readOnly = false } = options;
  const running = await sandbox.exec(
    {
      argv: ['/bin/sh', '-c', 'eval "$SBX_ATTACH_TEXT"', 'sbx-attach', name, 'terminal', word, mark],
      env: { SBX_ATTACH_TEXT: script },
      stdin: 'pipe',
      terminal: options.size,
    },
    call,
  );
  const { stdin, stdout } = running;
  if (stdin === undefined || stdout === undefined)
    throw new SbxError('bug', `backend '${sandbox.backend}' gave no streams for a terminal`);
  const output = new Readable({ read: () => undefined });
  const { promise: closed, resolve } = Promise.withResolvers<ChannelEnd>();
  const started = Promise.withResolvers<void>();
  const filter = attachFilter(mark);
  let reason: ChannelEnd | undefined;
  let text = '';
  let said = '';
  stdout.on('data', (piece: Buffer) => {
    if (text.length < 4096) text += piece.toString('latin1');
    const { output: printed, report = '' } = filter(piece);
    if (text.includes('\x1b[H\x1b[J')) started.resolve();
    said = report;
    if (printed.length > 0) output.push(printed);
  });
  // What broke is told by the way the channel ends.
  stdout.on('error', () => undefined);
  stdin.on('error', () => undefined);
  stdout.once('close', async () => {
    // A backend that lost it has no exit to tell.
    const exit = await running.wait().catch(() => undefined);
    const code = exit && 'code' in exit ? exit.code : undefined;
    started.reject(
      call.signal.aborted
        ? new SbxError('interrupted', 'interrupted')
        : attachError(sandbox.name, name, code, text, mark),
    );
    output.push(null);
    input.destroy();
    const lost: ChannelEnd = { reason: 'lost', error: new Error('the connection to the sandbox broke') };
    resolve(reason ?? attachReport(said, mark).end ?? lost);
  });
  const input = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (readOnly) done();
      else stdin.write(chunk, done);
    },
  });
  input.on('error', () => undefined);
  const stop = () => {
    reason ??= { reason: 'closed' };
    // The channel is over whatever comes of it.
    running.terminate(0).catch(() => undefined);
    stdout.destroy();
  };
  const resize = (size: TerminalSize) => {
    if (readOnly) return;
    // A command that has ended has no size.
    running.resize?.(size).catch(() => undefined);
  };
  call.signal.addEventListener('abort', stop, { once: true });
  try {
    await started.promise;
  } finally {
    call.signal.removeEventListener('abort', stop);
  }
  return {
    output,
    input,
    resize,
    redraw(size) {
      // dtach's client tells of a size only when it changes.
      resize({ ...size, rows: size.rows + 1 });
      resize(size);
    },
    close: stop,
    closed,
  };
}
