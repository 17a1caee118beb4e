/** What verbs that take many sandboxes have in common: do it to each, say how each went, end with the first kind of failure. */
import type { Call, Sandbox, SandboxState } from '../backend/contract.ts';
import { failureOf, type Outcome, onEach } from '../ops/each.ts';
import type { View } from '../ui/output.ts';
import { visible } from '../ui/text.ts';
import type { Context } from './context.ts';
import { Args } from './flags.ts';

/** The argument of a verb that takes many sandboxes. */
export const sandboxesArg = Args.string({
  multiple: true,
  completes: 'sandbox',
  description: 'names, ids or BACKEND/NAME; left out: $SBX_SANDBOX, or the obvious one',
});

/** The argument of a verb that takes one sandbox. */
export const sandboxArg = Args.string({
  completes: 'sandbox',
  description: 'name, id or BACKEND/NAME; left out: $SBX_SANDBOX, or the only running one',
});

/** Time between TERM and KILL when `--timeout` is left out, in milliseconds. */
export const STOP_GRACE_MS = 10_000;

/** What JSON holds for each sandbox. */
export interface EachRow {
  readonly name: string;
  readonly id?: string;
  readonly backend?: string;
  /** What was done, such as `started`; absent when it failed. */
  readonly done?: string;
  readonly error?: string;
  readonly code?: string;
}

const view: View<EachRow> = {
  name: ({ name }) => name,
  columns: [
    { header: 'NAME', value: ({ name }) => name, whole: true },
    { header: 'DONE', value: ({ done, error }) => done ?? error },
  ],
};

/** The part of a command that this needs. */
export interface EachCommand {
  readonly context: Context;
  readonly format: string;
  print<Row>(rows: readonly Row[], view: View<Row>): Promise<void>;
  line(text: string): void;
}

/** What is done to each. */
export interface EachVerb {
  /** As on the command line. */
  readonly verb: string;
  /** What it is afterwards, such as `started`. */
  readonly done: string;
  /** States in which a sandbox can be the obvious one. */
  readonly states: readonly SandboxState[];
  act(sandbox: Sandbox, call: Call): Promise<void>;
}

/** Does the verb to each of `names`, or to the obvious one. @throws SbxError when one of them failed */
export async function eachSandbox(
  command: EachCommand,
  names: readonly string[] | undefined,
  verb: EachVerb,
): Promise<void> {
  const { context } = command;
  const call = { signal: context.signal };
  const outcomes = await onEach(
    context,
    names ?? [],
    verb,
    async (sandbox) => {
      await verb.act(sandbox, call);
      return { name: sandbox.name, id: sandbox.id, backend: sandbox.backend, done: verb.done };
    },
    call,
  );
  await printOutcomes(command, outcomes);
}

/** Names of those that went well on stdout, the failures on stderr; JSON holds both. @throws SbxError when one of them failed */
export async function printOutcomes(
  command: EachCommand,
  outcomes: readonly Outcome<EachRow | undefined>[],
): Promise<void> {
  if (command.format === 'table' || command.format === 'wide' || command.format === 'name') {
    for (const { name, value, error } of outcomes) {
      if (value !== undefined) command.line(visible(value.name));
      else if (error !== undefined && outcomes.length > 1) {
        command.context.io.stderr.write(`error: ${visible(name)}: ${visible(error.message)}\n`);
      }
    }
  } else {
    const rows = outcomes.flatMap(({ name, value, error }): EachRow[] =>
      error === undefined
        ? value === undefined
          ? []
          : [value]
        : [{ name, error: error.message, code: error.code }],
    );
    await command.print(rows, view);
  }
  const failure = failureOf(outcomes);
  if (failure !== undefined) throw failure;
}
