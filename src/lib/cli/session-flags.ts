/** The flags of the verbs that attach to a session, and what comes of it. */
import type { Sandbox } from '../backend/contract.ts';
import { SbxError } from '../errors.ts';
import {
  DEFAULT_DETACH_KEYS,
  EXIT_GIVEN_UP,
  MAIN_SESSION,
  parseDetachKeys,
  type ShellOutcome,
  type ShellRequest,
} from '../ops/shell.ts';
import { quoteWord } from '../util/shell-quote.ts';
import type { Context } from './context.ts';
import { duration, Flags } from './flags.ts';
import { reportOf } from './report.ts';
import type { SbxCommand } from './sbx-command.ts';

const TEN_MINUTES = 600_000;

/** Flags of every verb that attaches. */
export const sessionFlags = {
  'read-only': Flags.boolean({ summary: 'only watch: pass on no key and no size of the window' }),
  'take-over': Flags.boolean({ summary: 'end the connections of all other clients' }),
  'no-replay': Flags.boolean({ summary: 'do not show what the session printed before' }),
  'detach-keys': Flags.string({
    default: DEFAULT_DETACH_KEYS,
    completes: 'none',
    helpValue: '<keys>',
    summary: 'keys that leave, such as ctrl-a,d; none passes on every key, ~ too',
  }),
  'reconnect-for': duration({
    default: TEN_MINUTES,
    summary: 'how long to try to get a lost connection back',
  }),
};

/** What the parser makes of {@link sessionFlags}. */
export interface SessionFlagValues {
  readonly 'read-only': boolean;
  readonly 'take-over': boolean;
  readonly 'no-replay': boolean;
  readonly 'detach-keys': string;
  readonly 'reconnect-for': number;
}

/** What {@link sessionFlags} ask for. @throws SbxError `usage` */
export function sessionRequest(
  flags: SessionFlagValues,
  context: Context,
): Omit<ShellRequest, 'session' | 'create' | 'command'> {
  return {
    readOnly: flags['read-only'],
    takeOver: flags['take-over'],
    replay: !flags['no-replay'],
    keys: parseDetachKeys(flags['detach-keys']),
    giveUpMs: flags['reconnect-for'],
    term: context.env.TERM,
  };
}

/** Says on stderr why it is over and how to come back. @returns the exit code */
export function tellOutcome(
  outcome: ShellOutcome,
  sandbox: Sandbox,
  session: string,
  context: Context,
  json: boolean,
): number {
  const name = session === MAIN_SESSION ? '' : ` --session ${quoteWord(session)}`;
  const back = `sbx shell ${quoteWord(sandbox.name)}${name}`;
  if (outcome.how === 'detached') {
    context.logger.info(`left session '${session}' of '${sandbox.name}', which goes on; come back: ${back}`);
  } else if (outcome.how === 'taken') {
    context.logger.info(
      `another client took over session '${session}' of '${sandbox.name}'; come back: ${back}`,
    );
  } else if (outcome.how === 'lost') {
    const { error } = outcome;
    const why = error instanceof Error ? error.message : String(error);
    const hint = error instanceof SbxError && error.code !== 'unreachable' ? error.hint : undefined;
    const lost = new SbxError('unreachable', `session '${session}' of '${sandbox.name}' was lost: ${why}`, {
      hint: hint ?? `the session may go on; come back: ${back}`,
      backend: sandbox.backend,
      cause: error,
    });
    const { debug } = context.settings;
    const options = { json, debug, received: undefined, ownFailureExit: EXIT_GIVEN_UP };
    context.io.stderr.write(reportOf(lost, options).text);
  }
  return outcome.exitCode;
}

/** Prints for a program how it was over, where it asked for that. */
export async function printOutcome(
  { how, exitCode }: ShellOutcome,
  sandbox: Sandbox,
  session: string,
  command: Pick<SbxCommand<object>, 'format' | 'printOne'>,
): Promise<void> {
  if (command.format === 'table' || command.format === 'wide') return;
  const { shellView } = await import('../ui/shell-view.ts');
  await command.printOne({ sandbox: sandbox.name, session, how, exitCode }, shellView);
}
