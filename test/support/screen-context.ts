/** A context whose terminal is one in memory, for what draws full screens. */
import type { Backend, Sandbox } from '../../src/lib/backend/contract.ts';
import type { Sessions } from '../../src/lib/backend/contract-sessions.ts';
import { type Context, createContext } from '../../src/lib/cli/context.ts';
import type { Input, Output } from '../../src/lib/cli/io.ts';
import { MemoryOutput } from '../../src/lib/cli/memory-io.ts';
import { SignalHub } from '../../src/lib/cli/signals.ts';
import { backendsOf } from './command-line.ts';
import type { ScreenTerminal } from './screen-terminal.ts';

/** The context, and the signals that reach it. */
export interface ScreenContext {
  readonly context: Context;
  readonly signals: SignalHub;
}

/** @param backends the first is the default. */
export function screenContext(terminal: ScreenTerminal, ...backends: readonly Backend[]): ScreenContext {
  const { input, output } = terminal.streams;
  const signals = new SignalHub();
  const stdin: Input = {
    fd: undefined,
    isTTY: true,
    stream: () => input,
    release: () => void input.destroy(),
  };
  const stdout: Output = Object.assign(new MemoryOutput(true, undefined, 'throw'), {
    stream: () => output,
    write: (data: string | Uint8Array) => void output.write(data),
  });
  const context = createContext({
    io: { stdin, stdout, stderr: new MemoryOutput(true, undefined, 'ignore') },
    env: { PATH: process.env.PATH, TERM: 'xterm-256color' },
    signals,
    openBackends: async () => backendsOf(backends),
  });
  return { context, signals };
}

/** The backend with sessions in each of its sandboxes. */
export function withSessions(backend: Backend, sessionsOf: (name: string) => Sessions): Backend {
  const extend = (sandbox: Sandbox): Sandbox => ({
    ...sandbox,
    name: sandbox.name,
    can: { ...sandbox.can, sessions: sessionsOf(sandbox.name) },
  });
  return { ...backend, get: async (ref, call) => extend(await backend.get(ref, call)) };
}
