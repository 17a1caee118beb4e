/** Questions to a person. Asked only where somebody can answer; everywhere else a flag has to say it. */
import { setImmediate as turn } from 'node:timers/promises';
import { SbxError } from '../errors.ts';
import type { Chooser, Selection } from '../ops/pick.ts';
import { decideColor } from '../ui/color.ts';
import { promptTheme } from '../ui/prompt-theme.ts';
import { visible } from '../ui/text.ts';
import { decideUnicode } from '../ui/unicode.ts';
import { quoteArgv } from '../util/shell-quote.ts';
import type { Settings } from './context.ts';
import type { Io } from './io.ts';
import { inCi, isDumb } from './terminal-env.ts';

/** A question that is answered by yes or no. */
export interface Confirmation {
  readonly message: string;
  /** The flag that says yes. */
  readonly flag: string;
  /** The answer of a bare Enter. Default: no. */
  readonly default?: boolean;
}

/** A question that is answered by text. */
export interface TextQuestion {
  readonly message: string;
  /** What says it on the command line. */
  readonly flag: string;
  /** The answer of a bare Enter, shown behind the question. */
  readonly default?: string;
  /** Stands there to be edited. */
  readonly prefill?: string;
  /** What is wrong with an answer; undefined: nothing. The question stays until nothing is. */
  check?(text: string): string | undefined | Promise<string | undefined>;
}

/**
 * Asks questions on stderr. Every question names the flag that answers it without a terminal.
 * Each throws SbxError `usage` when nobody can be asked, and an AbortError on Ctrl-C and at the end of the input.
 */
export interface Prompter extends Chooser {
  confirm(question: Confirmation): Promise<boolean>;
  input(question: TextQuestion): Promise<string>;
}

/** What decides whether questions are possible, and how they look. */
export interface PrompterOptions {
  readonly io: Io;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Read at each question: flags are known only after parsing. */
  readonly settings: Readonly<Pick<Settings, 'noInput' | 'color' | 'words'>>;
  readonly signal: AbortSignal;
}

/** Choices beyond this many get a line to type a filter into. */
const FEW = 7;
const PAGE = 10;
/** Lines around the choices: the question, the description and the keys, some of them in two lines. */
const AROUND = 6;

/** A prompter on the terminal. */
export function terminalPrompter({ io, env, settings, signal }: PrompterOptions): Prompter {
  // A dumb terminal cannot move the cursor, which every question does.
  const canAsk = () => !settings.noInput && !inCi(env) && !isDumb(env) && io.stdin.isTTY && io.stderr.isTTY;

  async function ask<T>(
    { message, flag }: { readonly message: string; readonly flag: string },
    run: (lib: Library, context: Asking) => Promise<T>,
  ): Promise<T> {
    if (!canAsk()) throw nobody(message, flag, settings.words);
    const lib = await import('@inquirer/prompts');
    const input = io.stdin.stream();
    const output = io.stderr.stream();
    using end = endOf(input);
    try {
      return await run(lib, { input, output, signal: AbortSignal.any([signal, end.signal]) });
    } catch (error) {
      if (error instanceof Error && (error.name === 'ExitPromptError' || error.name === 'AbortPromptError')) {
        throw new DOMException('the question was not answered', 'AbortError');
      }
      throw error;
    }
  }

  const themed = (message: string, keys = '') => {
    const color = decideColor({ isTTY: io.stderr.isTTY, env, flag: settings.color });
    return { message: visible(message), theme: promptTheme({ color, unicode: decideUnicode(env) }, keys) };
  };

  return {
    get canAsk() {
      return canAsk();
    },
    confirm: (question) =>
      ask(question, (lib, on) =>
        lib.confirm({ ...themed(question.message), default: question.default ?? false }, on),
      ),
    select: (question) =>
      ask(question, (lib, on) => {
        const choices = question.choices.map(shown);
        const pageSize = pageOf(on.output);
        if (choices.length <= FEW) {
          return lib.select({ ...themed(question.message, SELECT_KEYS), choices, pageSize, loop: false }, on);
        }
        const source = (typed = '') => matching(choices, typed);
        return lib.search({ ...themed(question.message, SEARCH_KEYS), source, pageSize }, on);
      }),
    input: (question) =>
      ask(question, (lib, on) => {
        const preset = question.prefill ?? question.default;
        return lib.input(
          {
            ...themed(question.message),
            ...(preset === undefined ? {} : { default: preset }),
            ...(question.prefill === undefined ? {} : { prefill: 'editable' as const }),
            validate: async (text) => (await question.check?.(text)) ?? true,
          },
          on,
        );
      }),
  };
}

const SELECT_KEYS = 'up, down, Enter';
const SEARCH_KEYS = 'type to filter; up, down, Enter';

type Library = typeof import('@inquirer/prompts');
type Asking = { input: NodeJS.ReadableStream; output: NodeJS.WritableStream; signal: AbortSignal };

/** The command with the flag, where there is a command line to put it into. */
function nobody(message: string, flag: string, words: readonly string[]): SbxError {
  const at = words.includes('--') ? words.indexOf('--') : words.length;
  const command = quoteArgv(['sbx', ...words.slice(0, at), flag, ...words.slice(at)]);
  const whole = words.length > 0 && flag.startsWith('--');
  return new SbxError('usage', `this needs an answer and there is nobody to ask: ${message}`, {
    hint: whole ? `add ${flag}: ${command}` : `add ${flag}`,
  });
}

/** Names and descriptions may come out of a sandbox or from a server. */
function shown<Value>({ name, value, description }: Selection<Value>['choices'][number]) {
  return {
    name: visible(name),
    value,
    ...(description === undefined ? {} : { description: visible(description) }),
  };
}

/** The choices in whose names, or else in whose descriptions, every word stands that was typed. */
function matching<C extends { readonly name: string; readonly description?: string }>(
  choices: readonly C[],
  typed: string,
): readonly C[] {
  const words = typed.toLowerCase().split(' ');
  const holds = (text = '') => words.every((word) => text.toLowerCase().includes(word));
  const named = choices.filter(({ name }) => holds(name));
  return named.length > 0 ? named : choices.filter(({ description }) => holds(description));
}

/** Choices shown at once, such that the whole question fits the height of the terminal. */
function pageOf(output: NodeJS.WritableStream): number {
  const rows = 'rows' in output && typeof output.rows === 'number' && output.rows > 0 ? output.rows : 24;
  return Math.max(1, Math.min(PAGE, rows - AROUND));
}

/**
 * Aborts when the input ends (Ctrl-D), which the library takes for no answer and waits on for ever. After Ctrl-Z and fg
 * the input flows again.
 */
function endOf(
  input: NodeJS.ReadableStream & { readonly isRaw?: boolean },
): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  let settled = false;
  let continued = false;
  const ended = () => {
    if (!settled) controller.abort(new DOMException('the input has ended', 'AbortError'));
  };
  // Every question ends with a pause; one that is still open a turn later has lost its input.
  const onPause = () => (continued ? void input.resume() : void turn().then(ended));
  // After a continuation readline believes that it is paused, and another pause does not show; the terminal's mode does.
  const onKey = async (_: unknown, key: { ctrl?: boolean; name?: string } | undefined) => {
    if (key?.ctrl !== true || key.name !== 'd') return;
    await turn();
    if (input.isRaw === false) ended();
  };
  // Node's readline pauses the input when the process is continued, right after this.
  const onContinue = async () => {
    continued = true;
    await turn();
    continued = false;
  };
  const events = ['pause', 'end', 'close'] as const;
  for (const event of events) input.on(event, onPause);
  input.on('keypress', onKey);
  process.on('SIGCONT', onContinue);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      settled = true;
      for (const event of events) input.off(event, onPause);
      input.off('keypress', onKey);
      process.off('SIGCONT', onContinue);
    },
  };
}
