/** Commands over a link: one connection with the command's streams, signals and end. docs/protocol.md, "links/exec". */
import type { Call, ExecSpec, Exit, Running } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { frameLink } from '../../transport/frame-link.ts';
import { FRAMES, LINK_ERRORS, LINK_INPUT, LINK_OUTPUT } from '../../wire/links.ts';
import { type Api, segment, toldFailure } from './api.ts';

/** Starts a command; `conflict` when the sandbox is stopped. */
export async function execOverLink(
  api: Api,
  sandbox: { readonly id: string; readonly name: string },
  { handOver: _, ...spec }: ExecSpec,
  call: Call,
): Promise<Running> {
  const connection = await api.upgrade(`/sandboxes/${segment(sandbox.id)}/links/exec`, FRAMES, call);
  const started = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<Exit>();
  // Whoever asks gets the failure; nobody asking is no crash.
  finished.promise.catch(() => undefined);
  const fail = (error: SbxError) => {
    started.reject(error);
    finished.reject(error);
  };
  let exit: Exit | undefined;
  const link = frameLink(connection, (message) => {
    if (message.started === true) started.resolve();
    else if (isExit(message.exit)) exit = message.exit;
    else if (typeof message.error === 'string') fail(toldFailure(message, api.backend));
  });
  const stdin = spec.stdin === 'pipe' ? link.writable(LINK_INPUT) : undefined;
  const stdout = link.readable(LINK_OUTPUT);
  const stderr = spec.terminal === undefined ? link.readable(LINK_ERRORS) : undefined;
  for (const [stream, number] of [
    [stdout, LINK_OUTPUT],
    [stderr, LINK_ERRORS],
  ] as const) {
    // The command is to hear that nobody reads it, as from a pipe.
    stream?.once('close', () => {
      if (!stream.readableEnded) link.send({ closed: number });
    });
  }
  // A command that reads no more is no failure; whoever writes is told by its own callback.
  stdin?.on('error', () => undefined);
  void link.closed.then(async (error) => {
    if (exit === undefined) return fail(lost(api, sandbox.name, error));
    await Promise.all([settled(stdout), settled(stderr)]);
    finished.resolve(exit);
  });
  link.send({ exec: spec });
  const giveUp = () => link.destroy();
  call.signal.addEventListener('abort', giveUp, { once: true });
  try {
    await started.promise;
  } catch (error) {
    link.destroy();
    throw call.signal.aborted ? new SbxError('interrupted', 'interrupted') : error;
  } finally {
    call.signal.removeEventListener('abort', giveUp);
  }
  return {
    ...(stdin === undefined ? {} : { stdin }),
    stdout,
    ...(stderr === undefined ? {} : { stderr }),
    signal: async (signal) => link.send({ signal }),
    terminate: async (terminate) => link.send({ terminate }),
    ...(spec.terminal === undefined ? {} : { resize: async (resize) => link.send({ resize }) }),
    wait: () => finished.promise,
  };
}

function isExit(value: unknown): value is Exit {
  if (value === null || typeof value !== 'object') return false;
  return (
    ('code' in value && Number.isInteger(value.code)) ||
    ('signal' in value && typeof value.signal === 'string')
  );
}

function lost(api: Api, sandbox: string, cause: Error | undefined): SbxError {
  return new SbxError(
    'unreachable',
    `the connection to ${api.url} was lost while a command ran in sandbox '${sandbox}'`,
    { backend: api.backend, hint: `see whether it runs: sbx backend check ${api.backend}`, cause },
  );
}

/** Resolves when what was received has been read, or is wanted by nobody. */
async function settled(stream: Running['stdout']): Promise<void> {
  if (stream === undefined || stream.readableLength === 0 || stream.destroyed) return;
  await new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) stream.once(event, () => resolve());
  });
}
