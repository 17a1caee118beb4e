/** What the screens of all verbs have in common: loading the library, and failures as text. */
import type { Sandbox } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import type { ScreenControl } from '../../ui/tui/run-screen.tsx';
import type { Notice } from '../../ui/tui/sessions-model.ts';
import type { TerminalOutput } from '../../ui/tui/terminal.ts';
import type { Context } from '../context.ts';

/** Loads what draws. React takes its slow form, meant for its users' own debugging, unless it is told not to. */
export async function loadScreens() {
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = 'production';
  try {
    return (await import('../../ui/tui/run-screen.tsx')).runScreen;
  } finally {
    // Commands that are started later inherit this environment.
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
}

/** The terminal and the time of this process, for a screen. */
export function screenHost({ io, signal, clock }: Context) {
  return {
    terminal: { input: io.stdin.stream(), output: io.stdout.stream() as TerminalOutput },
    signal,
    now: () => clock.now(),
  };
}

/** What to say of an expected failure. @throws whatever is a bug */
export function messageOf(error: unknown): string {
  if (error instanceof SbxError) return error.message;
  throw error;
}

/** Does it, and tells how it went; an expected failure is no end of the screen. */
export async function told(
  task: () => Promise<string | undefined>,
  tell: (notice: Notice | undefined) => void,
): Promise<boolean> {
  try {
    const text = await task();
    tell(text === undefined ? undefined : { text, failed: false });
    return true;
  } catch (error) {
    tell({ text: messageOf(error), failed: true });
    return false;
  }
}

/**
 * Attaches the local terminal to a session until it is left or ends; the terminal is then as it was before.
 * @returns the exit code to end with, where that is all that is left to do.
 */
export type AttachSession = (sandbox: Sandbox, session: string) => Promise<number | undefined>;

/** Attaches with the screen off. @param ends gets the exit code to end with. */
export async function attached(
  suspend: ScreenControl<never>['suspend'],
  attach: () => Promise<number | undefined>,
  ends: (exit: number) => void,
): Promise<undefined> {
  await suspend(async () => {
    const exit = await attach();
    if (exit === undefined) return 'back';
    ends(exit);
    return 'over';
  });
}
