/** Background processes of a sandbox and its main one: which there are, which one is meant, and signals to them. */
import type { Call, Processes, ProcessInfo, Sandbox, SignalName } from '../backend/contract.ts';
import { type CapabilityIndex, need } from '../backend/need.ts';
import { pickProcess } from '../backend/pick-process.ts';
import { SIGNAL_NUMBERS } from '../backend/signal-numbers.ts';
import { SbxError } from '../errors.ts';
import type { Outcome } from './each.ts';

/** The name of a sandbox's main process. */
export const MAIN = 'main';

/** Reads `TERM`, `SIGTERM`, `term` or `15`. @throws SbxError `usage` for a signal that cannot be sent. */
export function parseSignal(text: string): SignalName {
  const name = text.toUpperCase().replace(/^SIG/, '');
  const found = Object.entries(SIGNAL_NUMBERS).find(
    ([known, number]) => known === name || String(number) === text,
  );
  if (found !== undefined) return found[0] as SignalName;
  throw new SbxError('usage', `there is no signal ${JSON.stringify(text)} to send`, {
    hint: `it can be one of ${Object.keys(SIGNAL_NUMBERS).join(', ')}, or its number`,
  });
}

/** All of them, ended ones included. */
export async function everyProcess(processes: Pick<Processes, 'list'>, call: Call): Promise<ProcessInfo[]> {
  const all: ProcessInfo[] = [];
  for await (const info of processes.list(call)) all.push(info);
  return all;
}

/** The processes, the oldest first; without `all` those that run, and the main one in any state. */
export async function listProcesses(
  sandbox: Sandbox,
  options: { readonly all: boolean; readonly having: CapabilityIndex },
  call: Call,
): Promise<ProcessInfo[]> {
  const everything = await everyProcess(need(sandbox, 'processes', options.having), call);
  if (options.all) return everything;
  const main = pickProcess(everything, MAIN);
  return everything.filter((info) => info.state === 'running' || info === main);
}

/** Lets somebody choose one of several; undefined when nobody can be asked. */
export type AskForProcess = (candidates: readonly ProcessInfo[]) => Promise<ProcessInfo | undefined>;

/**
 * The process whose log is meant: the one that is named, else the main one, else the only running one, else the only one, else what `ask` says.
 * @throws SbxError `not_found`; `usage` with the choice when there are many.
 */
export async function chooseProcess(
  sandbox: Sandbox,
  processes: Pick<Processes, 'list'>,
  ref: string | undefined,
  call: Call,
  ask?: AskForProcess,
): Promise<ProcessInfo> {
  const all = await everyProcess(processes, call);
  const named = pickProcess(all, ref ?? MAIN);
  if (named !== undefined) return named;
  if (ref !== undefined) {
    throw new SbxError('not_found', `there is no process '${ref}' in sandbox '${sandbox.name}'`, {
      hint: `sbx ps ${sandbox.name} --all`,
    });
  }
  const running = all.filter(({ state }) => state === 'running');
  const [first, second] = running.length > 0 ? running : all;
  if (first === undefined) {
    throw new SbxError('not_found', `sandbox '${sandbox.name}' has no background process`, {
      hint: `sbx exec -d ${sandbox.name} -- CMD…`,
    });
  }
  if (second === undefined) return first;
  const candidates = running.length > 0 ? running : all;
  const answer = await ask?.(candidates);
  if (answer !== undefined) return answer;
  const names = candidates.slice(0, 8).map((info) => `${info.name ?? info.id} (${info.argv[0] ?? '?'})`);
  throw new SbxError(
    'usage',
    `sandbox '${sandbox.name}' has no main process, and several others: ${names.join(', ')}`,
    {
      hint: `sbx logs ${sandbox.name} --process ${first.name ?? first.id}`,
    },
  );
}

/** Sends the signal to each; one that fails stops none of the others. */
export async function killProcesses(
  sandbox: Sandbox,
  options: {
    readonly refs: readonly string[];
    readonly signal: SignalName;
    readonly having: CapabilityIndex;
  },
  call: Call,
): Promise<Outcome<string>[]> {
  const processes = need(sandbox, 'processes', options.having);
  const outcomes: Outcome<string>[] = [];
  for (const ref of new Set(options.refs)) {
    try {
      await processes.kill(ref, options.signal, call);
      outcomes.push({ name: ref, value: ref });
    } catch (error) {
      if (!(error instanceof SbxError) || call.signal.aborted) throw error;
      outcomes.push({ name: ref, error });
    }
  }
  return outcomes;
}
