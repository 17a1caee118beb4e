/** Which process of a sandbox a command means where none is named. */
import type { Call, ProcessInfo, Sandbox } from '../backend/contract.ts';
import { type CapabilityIndex, need } from '../backend/need.ts';
import { SbxError } from '../errors.ts';
import { ageOf } from '../util/duration.ts';
import { quoteArgv } from '../util/shell-quote.ts';
import { facts, pick } from './pick.ts';
import { everyProcess } from './processes.ts';
import type { ResolveContext } from './resolve-sandbox.ts';

/** Lets somebody choose one of these; undefined when nobody can be asked. */
export async function choiceOfProcess(
  context: Pick<ResolveContext, 'prompter' | 'clock'>,
  sandbox: Sandbox,
  candidates: readonly ProcessInfo[],
): Promise<ProcessInfo | undefined> {
  const prompter = await context.prompter();
  if (!prompter.canAsk) return undefined;
  return prompter.select({
    message: `Which process of '${sandbox.name}'?`,
    flag: '--process',
    choices: candidates.map((value) => ({ ...choiceOf(value, context.clock.now()), value })),
  });
}

/** Lets somebody choose one that runs. @throws SbxError `usage` when nobody can be asked; `not_found` when none runs */
export function askForProcess(
  context: Pick<ResolveContext, 'prompter' | 'clock'>,
  sandbox: Sandbox,
  { verb, having }: { readonly verb: string; readonly having: CapabilityIndex },
  call: Call,
): Promise<ProcessInfo> {
  return pick(context, {
    message: `Which process of '${sandbox.name}'?`,
    items: async () =>
      (await everyProcess(need(sandbox, 'processes', having), call)).filter(
        ({ state }) => state === 'running',
      ),
    choice: (info) => choiceOf(info, context.clock.now()),
    missing: new SbxError('usage', 'name the sandbox and the process', {
      hint: `sbx ${verb} ${sandbox.name} PROCESS; see them: sbx ps ${sandbox.name}`,
    }),
    none: new SbxError('not_found', `no process runs in sandbox '${sandbox.name}'`, {
      hint: `sbx ps ${sandbox.name} --all`,
    }),
  });
}

const SHOWN_COMMAND = 200;

function choiceOf({ id, name, state, startedAt, argv }: ProcessInfo, now: Date) {
  const command = quoteArgv(argv).slice(0, SHOWN_COMMAND);
  return { name: name ?? id, description: facts(state, ageOf(startedAt, now), command) };
}
