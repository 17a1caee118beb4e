/** Runs a command on the local terminal: raw input, one output, the size that the window has. */
import type { Sandbox } from '../backend/contract.ts';
import { enterRawMode } from '../session/raw-mode.ts';
import { type Screen, sizeOf } from '../session/terminal-size.ts';
import { type Ended, type ExecHost, type ExecRequest, noTerminal, settle, start } from './exec.ts';
import { supervise } from './exec-supervise.ts';

/** Runs a command to its end; the local terminal is then as it was before. */
export async function executeOnTerminal(
  sandbox: Sandbox,
  request: ExecRequest,
  term: string | undefined,
  host: ExecHost,
): Promise<Ended> {
  const { io, clock } = host;
  if (!io.stdin.isTTY || !io.stdout.isTTY) throw noTerminal();
  const { argv, env, workdir, user } = request;
  const screen: Screen = io.stdout.stream();
  const size = () => sizeOf(screen);
  const started = clock.monotonic();
  const terminal = { ...size(), term };
  const running = await start(sandbox, { argv, env, workdir, user, stdin: 'pipe', terminal }, host);
  using watch = supervise(running, { ...host, timeoutMs: request.timeoutMs, mustEnd: request.mustEnd });
  using _raw = enterRawMode(io.stdin.stream());
  const { promise: resizeFailed, reject } = Promise.withResolvers<never>();
  const onResize = () => {
    running.resize?.(size()).catch(reject);
  };
  screen.on('resize', onResize);
  // The window may have changed while the command was started.
  if (size().cols !== terminal.cols || size().rows !== terminal.rows) onResize();
  try {
    const ended = settle(running, watch, started, host, {
      stdin: true,
      stdout: () => screen,
      stderr: () => io.stderr.stream(),
    });
    return await Promise.race([ended, resizeFailed]);
  } finally {
    screen.off('resize', onResize);
  }
}
