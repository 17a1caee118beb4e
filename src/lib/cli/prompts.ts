/** Questions to a person. Asked only where somebody can answer; everywhere else a flag has to say it. */
import { SbxError } from '../errors.ts';
import type { Io } from './io.ts';

/** Something to choose. */
export interface Choice<Value> {
  readonly name: string;
  readonly value: Value;
  readonly description?: string;
}

/**
 * Asks questions on stderr. Every question names the flag that answers it without a terminal.
 * Each throws SbxError `usage` when nobody can be asked, and an AbortError on Ctrl-C.
 */
export interface Prompter {
  /** Whether anybody can be asked. */
  readonly canAsk: boolean;
  confirm(question: { message: string; flag: string; default?: boolean }): Promise<boolean>;
  select<Value>(question: {
    message: string;
    flag: string;
    choices: readonly Choice<Value>[];
  }): Promise<Value>;
  input(question: { message: string; flag: string; default?: string }): Promise<string>;
}

/** What decides whether questions are possible. */
export interface PrompterOptions {
  readonly io: Io;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Read at each question: `--no-input` is known only after parsing. */
  readonly noInput: () => boolean;
  readonly signal: AbortSignal;
}

/** A prompter on the terminal. */
export function terminalPrompter({ io, env, noInput, signal }: PrompterOptions): Prompter {
  const canAsk = () => !noInput() && !isSet(env.CI) && io.stdin.isTTY && io.stderr.isTTY;
  async function ask<T>(
    message: string,
    flag: string,
    run: (lib: Library, context: Asking) => Promise<T>,
  ): Promise<T> {
    if (!canAsk()) {
      throw new SbxError('usage', `this needs an answer and there is nobody to ask: ${message}`, {
        hint: `add ${flag}`,
      });
    }
    try {
      return await run(await import('@inquirer/prompts'), {
        input: io.stdin.stream(),
        output: io.stderr.stream(),
        signal,
      });
    } catch (error) {
      if (error instanceof Error && (error.name === 'ExitPromptError' || error.name === 'AbortPromptError')) {
        throw new DOMException('the question was not answered', 'AbortError');
      }
      throw error;
    }
  }
  return {
    get canAsk() {
      return canAsk();
    },
    confirm: ({ message, flag, default: preset = false }) =>
      ask(message, flag, (lib, on) => lib.confirm({ message, default: preset }, on)),
    select: ({ message, flag, choices }) =>
      ask(message, flag, (lib, on) => lib.select({ message, choices: [...choices] }, on)),
    input: ({ message, flag, default: preset }) =>
      ask(message, flag, (lib, on) =>
        lib.input(preset === undefined ? { message } : { message, default: preset }, on),
      ),
  };
}

type Library = typeof import('@inquirer/prompts');
type Asking = { input: NodeJS.ReadableStream; output: NodeJS.WritableStream; signal: AbortSignal };

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
}
