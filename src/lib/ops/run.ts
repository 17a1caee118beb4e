/** Makes a sandbox for one command and removes it whatever happens. */
import type { Backend, Sandbox } from '../backend/contract.ts';
import type { EndingSignal } from '../cli/signals.ts';
import { SbxError } from '../errors.ts';
import { type CreateRequest, type CreateTools, createSandbox } from './create.ts';
import type { ExecHost } from './exec.ts';
import { exitCodeOfCommand } from './exec-exit.ts';

/** What happens around the command. */
export interface RunOnceOptions {
  readonly create: CreateRequest;
  readonly tools: CreateTools;
  /** Leave the sandbox there. */
  readonly keep: boolean;
  /** Runs the command; resolves with what sbx exits with. `host` replaces the one given, for its signals mean something else here. */
  readonly act: (sandbox: Sandbox, host: ExecHost) => Promise<number>;
  /** A line on stderr, also with `--quiet`. */
  readonly tell: (line: string) => void;
}

/**
 * Creates, acts, removes. Ending signals never end sbx before the sandbox is removed; while the command runs they are the command's.
 * @returns the exit code of `act`, or 128 + the number of the signal that came before the command ran.
 * @throws SbxError also when the command was fine and its sandbox could not be removed.
 */
export async function runOnce(backend: Backend, host: ExecHost, options: RunOnceOptions): Promise<number> {
  const { create, tools, keep, act, tell } = options;
  const controller = new AbortController();
  let received: EndingSignal | undefined;
  let removing: string | undefined;
  using _taken = host.signals.takeOver((name) => {
    received ??= name;
    if (removing === undefined) controller.abort(new DOMException(`interrupted by ${name}`, 'AbortError'));
    else tell(`removing sandbox '${removing}'; one moment`);
  });
  const own = { io: host.io, clock: host.clock, signals: host.signals, signal: controller.signal };
  const interrupted = (error: unknown): number => {
    if (received === undefined || !isInterrupt(error)) throw error;
    return exitCodeOfCommand({ signal: received.slice(3) });
  };
  let sandbox: Sandbox;
  try {
    ({ sandbox } = await createSandbox(backend, create, tools, { signal: controller.signal }));
  } catch (error) {
    return interrupted(error);
  }
  let code: number | undefined;
  try {
    code = await act(sandbox, own).catch(interrupted);
    return code;
  } finally {
    removing = sandbox.name;
    if (keep) tell(`kept sandbox '${sandbox.name}'; remove it with: sbx rm --force ${sandbox.name}`);
    else await remove(backend, sandbox, code ?? 1, tell);
  }
}

/** A failure is thrown when the command was fine, and only told otherwise: the command's code says more. */
async function remove(
  backend: Backend,
  sandbox: Sandbox,
  code: number,
  tell: (line: string) => void,
): Promise<void> {
  try {
    await backend.destroy(sandbox.id, { force: true }, { signal: new AbortController().signal });
  } catch (cause) {
    const message = `sandbox '${sandbox.name}' could not be removed: ${cause instanceof Error ? cause.message : String(cause)}`;
    const hint = `sbx rm --force ${sandbox.name}`;
    if (code === 0) throw new SbxError('failed', message, { hint, cause, backend: backend.name });
    tell(`warning: ${message}; try: ${hint}`);
  }
}

function isInterrupt(error: unknown): boolean {
  if (error instanceof SbxError) return error.code === 'interrupted';
  return error instanceof Error && error.name === 'AbortError';
}
