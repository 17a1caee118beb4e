/**
 * Runs a command in a sandbox with the local streams as its own. Knows no backend; loads nothing that a plain command
 * does not need, for this is the path that users wait on most.
 */
import type { Writable } from 'node:stream';
import type { Argv, ExecSpec, Exit, Running, Sandbox } from '../backend/contract.ts';
import type { Manifest } from '../backend/manifest.ts';
import type { Context } from '../cli/context.ts';
import { SbxError } from '../errors.ts';
import { formatDuration } from '../util/duration.ts';
import { EXIT_OUTPUT_CLOSED, EXIT_TIMED_OUT, exitCodeOfCommand } from './exec-exit.ts';
import { copyOutput, forwardInput, handedOver, sinkOf } from './exec-streams.ts';
import { KILL_GRACE, type Supervision, supervise } from './exec-supervise.ts';

/** What to run and how. */
export interface ExecRequest {
  readonly argv: Argv;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly workdir?: string | undefined;
  readonly user?: string | undefined;
  /** Forward the local standard input; a terminal always does. */
  readonly stdin: boolean;
  /** Give the command a terminal, of the type that `TERM` names. The local streams must be terminals. */
  readonly terminal?: { readonly term: string | undefined } | undefined;
  readonly timeoutMs?: number | undefined;
  /** TERM and HUP end the command for certain; for commands whose sandbox goes with them. */
  readonly mustEnd?: boolean | undefined;
}

/** The part of the context that running a command needs. */
export type ExecHost = Pick<Context, 'io' | 'signal' | 'signals' | 'clock'>;

/** How a command ended. */
export interface Ended {
  /** What sbx exits with. */
  readonly exitCode: number;
  /** The signal that ended it, without `SIG`. */
  readonly signal: string | undefined;
  readonly timedOut: boolean;
  readonly durationMs: number;
}

/** Where a command's output goes instead of the local streams. */
export interface Sinks {
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/**
 * Runs a command to its end. Its output is complete when this resolves.
 * @throws SbxError for failures of ours or the backend's, never for the command's.
 */
export async function execute(
  sandbox: Sandbox,
  request: ExecRequest,
  host: ExecHost,
  sinks?: Sinks,
): Promise<Ended> {
  if (request.terminal !== undefined) {
    const { executeOnTerminal } = await import('./exec-terminal.ts');
    return await executeOnTerminal(sandbox, request, request.terminal.term, host);
  }
  const started = host.clock.monotonic();
  const running = await start(sandbox, specOf(request, host, sinks), host);
  using watch = supervise(running, { ...host, timeoutMs: request.timeoutMs, mustEnd: request.mustEnd });
  return await settle(running, watch, started, host, {
    stdin: request.stdin,
    stdout: () => sinks?.stdout ?? sinkOf(host.io.stdout),
    stderr: () => sinks?.stderr ?? sinkOf(host.io.stderr),
  });
}

/** Starts a command; one that was given up while it started is ended again. */
export async function start(sandbox: Sandbox, spec: ExecSpec, host: ExecHost): Promise<Running> {
  const running = await sandbox.exec(spec, { signal: host.signal });
  if (host.signal.aborted) {
    await running.terminate(0);
    throw new SbxError('interrupted', 'interrupted');
  }
  return running;
}

/** The local ends of a command's streams; asked for only where the command has not been handed the descriptor itself. */
export interface LocalEnds {
  readonly stdin: boolean;
  readonly stdout: () => Writable;
  readonly stderr: () => Writable;
}

/** Wires the streams and waits for the end of the command and of its output. */
export async function settle(
  running: Running,
  watch: Supervision,
  started: number,
  host: ExecHost,
  ends: LocalEnds,
): Promise<Ended> {
  const forwarding =
    ends.stdin && running.stdin !== undefined ? forwardInput(host.io.stdin, running.stdin) : undefined;
  let outputClosed = false;
  const copies = [
    running.stdout &&
      copyOutput(running.stdout, ends.stdout).then(async (copied) => {
        if (copied === 'all') return;
        outputClosed = true;
        running.stdout?.destroy();
        await running.signal('PIPE');
        watch.end(KILL_GRACE);
      }),
    running.stderr &&
      copyOutput(running.stderr, ends.stderr).then((copied) => {
        // What nobody reads is thrown away, so that the command is not held up by it.
        if (copied === 'reader gone') running.stderr?.resume();
      }),
  ];
  try {
    const ended = Promise.all([running.wait(), ...copies]).then(([exit]) => exit);
    const exit: Exit = await Promise.race([ended, watch.givenUp, ...(forwarding ? [forwarding.failed] : [])]);
    if (watch.signalled) {
      // Background commands of a shell ignore INT and QUIT, and would be left behind.
      await running.terminate(KILL_GRACE);
      await Promise.race([running.wait(), watch.givenUp]);
    }
    const { timedOut } = watch;
    return {
      exitCode: timedOut ? EXIT_TIMED_OUT : outputClosed ? EXIT_OUTPUT_CLOSED : exitCodeOfCommand(exit),
      signal: 'signal' in exit ? exit.signal : undefined,
      timedOut,
      durationMs: Math.round(host.clock.monotonic() - started),
    };
  } catch (error) {
    await running.terminate(0);
    throw error;
  } finally {
    forwarding?.stop();
    running.stdout?.destroy();
    running.stderr?.destroy();
  }
}

/** Refuses a timeout that the backend would cut short. */
export function refuseLongTimeout(timeoutMs: number | undefined, manifest: Manifest, backend: string): void {
  const most = manifest.limits.execTimeoutMs;
  if (timeoutMs === undefined || most === undefined || timeoutMs <= most) return;
  throw new SbxError(
    'unsupported',
    `backend '${backend}' runs a command for at most ${formatDuration(most)}, not ${formatDuration(timeoutMs)}`,
    { backend, hint: `use --timeout ${formatDuration(most)}, or run it in the background: sbx exec -d` },
  );
}

/** The error for a terminal that was asked for where there is none. */
export function noTerminal(): SbxError {
  return new SbxError('usage', '-t needs a terminal, and standard input or output is none', {
    hint: 'leave out -t; with -i the command still reads standard input',
  });
}

function specOf(request: ExecRequest, { io }: ExecHost, sinks: Sinks | undefined): ExecSpec {
  const { argv, env, workdir, user } = request;
  const fds = {
    stdin: request.stdin ? handedOver(io.stdin) : undefined,
    stdout: sinks === undefined ? handedOver(io.stdout) : undefined,
    stderr: sinks === undefined ? handedOver(io.stderr) : undefined,
  };
  const handOver = Object.fromEntries(Object.entries(fds).filter((entry) => entry[1] !== undefined));
  return { argv, env, workdir, user, stdin: request.stdin ? 'pipe' : 'none', handOver };
}
