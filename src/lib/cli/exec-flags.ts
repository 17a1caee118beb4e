/** The flags that say how a command runs, shared by `exec` and `run`, and what they ask for. */
import type { Argv, Sandbox } from '../backend/contract.ts';
import { checkArgv } from '../backend/spec.ts';
import { SbxError } from '../errors.ts';
import { noTerminal } from '../ops/exec.ts';
import { parseDuration } from '../util/duration.ts';
import { duration, Flags } from './flags.ts';
import type { Io } from './io.ts';

/** Flags of every verb that runs a command with the local streams. */
export const execFlags = {
  interactive: Flags.boolean({ char: 'i', summary: 'forward standard input to the command' }),
  terminal: Flags.boolean({
    char: 't',
    aliases: ['tty'],
    summary: 'give the command a terminal, as is done when all three streams are one',
    exclusive: ['json', 'no-terminal'],
  }),
  'no-terminal': Flags.boolean({ char: 'T', aliases: ['no-tty'], summary: 'give the command no terminal' }),
  timeout: duration({
    summary: 'time after which the command is ended; sbx then exits 124',
    parse: async (text) => timeoutOf(text),
  }),
  shell: Flags.string({
    completes: 'none',
    helpValue: '<text>',
    summary: 'text for /bin/sh to run; the words after it are its $1, $2, …',
  }),
};

/** No time at all is refused: some programs take it for no limit, and it would end every command. */
function timeoutOf(text: string): number {
  const ms = parseDuration(text);
  if (ms > 0) return ms;
  throw new SbxError('usage', `a timeout must be more than ${text}`, { hint: 'leave it out for no limit' });
}

/** What the parser makes of {@link execFlags}. */
export interface ExecFlagValues {
  readonly interactive: boolean;
  readonly terminal: boolean;
  readonly 'no-terminal': boolean;
  readonly timeout?: number | undefined;
  readonly shell?: string | undefined;
}

/** The command to run. @throws SbxError `usage` when there is none. */
export function commandOf(flags: ExecFlagValues, inner: readonly string[], example: string): Argv {
  if (flags.shell !== undefined) return checkArgv(['/bin/sh', '-c', flags.shell, 'sh', ...inner]);
  if (inner.length === 0) throw new SbxError('usage', 'there is no command to run', { hint: example });
  return checkArgv(inner);
}

/** Refuses `-t` where there is no terminal, before anything is done. @throws SbxError `usage` */
export function refuseMissingTerminal(flags: ExecFlagValues, io: Io): void {
  if (flags.terminal && !(io.stdin.isTTY && io.stdout.isTTY)) throw noTerminal();
}

/** Whether the command gets a terminal: because of `-t`, or because all local streams are one and the sandbox can. */
export function wantsTerminal(flags: ExecFlagValues, io: Io, sandbox: Sandbox, collect: boolean): boolean {
  if (flags.terminal) return true;
  if (flags['no-terminal'] || collect || sandbox.can.terminal === undefined) return false;
  return io.stdin.isTTY && io.stdout.isTTY && io.stderr.isTTY;
}
