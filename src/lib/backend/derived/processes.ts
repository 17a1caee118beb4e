/**
 * Background processes, made from exec: a small supervisor inside the sandbox keeps a record and a log for each.
 * What comes back from the sandbox is checked by the parsers in guest/.
 */
import { SbxError } from '../../errors.ts';
import lockScript from '../../guest/lock.sh';
import killScript from '../../guest/process-kill.sh';
import listScript from '../../guest/process-list.sh';
import {
  isProcessId,
  isProcessName,
  parseProcessList,
  processOfRecord,
} from '../../guest/process-records.ts';
import startScript from '../../guest/process-start.sh';
import superviseScript from '../../guest/process-supervise.sh';
import { randomHex } from '../../util/random-id.ts';
import type { Call, Exit, Processes, ProcessInfo, SignalName } from '../contract.ts';
import { pickProcess } from '../pick-process.ts';
import { deriveLogs } from './processes-logs.ts';
import { type ExecSandbox, refuseNoShell, runGuest } from './run-guest.ts';

const START = `${lockScript}\n${startScript}`;
/** Signals that end or hold a process reach all that it started; the others are a message to its group. */
const FAR_REACHING: readonly SignalName[] = ['TERM', 'KILL', 'INT', 'QUIT', 'STOP', 'CONT', 'ABRT'];
const NAME_TAKEN = 10;
const ID_TAKEN = 11;
const NOT_FOUND = 10;
const ENDED = 11;

/** The `processes` capability of a sandbox that has exec. */
export function deriveProcesses(sandbox: ExecSandbox): Processes {
  const list = async (call: Call, only = ''): Promise<ProcessInfo[]> => {
    const mark = `sbx-${randomHex(16)}`;
    const { stdout, stderr, exit } = await runGuest(sandbox, 'sbx-processes', listScript, [mark, only], call);
    refuseNoShell(sandbox, exit);
    if (codeOf(exit) !== 0) throw failed(sandbox, 'list its processes', stderr);
    return parseProcessList(stdout, mark);
  };
  const idOf = async (ref: string, call: Call): Promise<string> => {
    if (isProcessId(ref)) return ref;
    const found = pickProcess(await list(call), ref);
    if (found === undefined) throw unknownProcess(sandbox.name, ref);
    return found.id;
  };
  return {
    async start(spec, call) {
      if (spec.name !== undefined && !isProcessName(spec.name)) throw badName(spec.name);
      for (;;) {
        const id = randomHex(4);
        const args = [superviseScript, id, spec.name ?? '', spec.workdir ?? '', ...spec.argv];
        const { env, user } = spec;
        const { stdout, stderr, exit } = await runGuest(sandbox, 'sbx-start', START, args, call, {
          env,
          user,
        });
        refuseNoShell(sandbox, exit);
        const code = codeOf(exit);
        if (code === ID_TAKEN) continue;
        if (code === NAME_TAKEN) throw nameTaken(sandbox, spec.name ?? '');
        if (code !== 0) throw failed(sandbox, 'start a process', stderr);
        const [state, pid, started, status, ended] = stdout.toString('latin1').trim().split(' ');
        const info = processOfRecord({
          id,
          name: spec.name,
          running: state === 'running',
          pid,
          started,
          code: status,
          ended,
          argc: undefined,
          argv: new Uint8Array(),
        });
        if (info === undefined || (state !== 'running' && state !== 'exited'))
          throw failed(sandbox, 'start a process', '');
        return { ...info, argv: [...spec.argv] };
      }
    },
    async *list(call) {
      yield* await list(call);
    },
    async kill(ref, signal, call) {
      const id = await idOf(ref, call);
      const reach = FAR_REACHING.includes(signal) ? 'all' : 'group';
      const { stderr, exit } = await runGuest(sandbox, 'sbx-kill', killScript, [id, signal, reach], call);
      const code = codeOf(exit);
      if (code === NOT_FOUND) throw unknownProcess(sandbox.name, ref);
      if (code === ENDED) {
        throw new SbxError('conflict', `process '${ref}' in sandbox '${sandbox.name}' has ended`, {
          hint: `sbx ps ${sandbox.name} --all`,
        });
      }
      if (code !== 0) throw failed(sandbox, `send ${signal} to process '${ref}'`, stderr);
    },
    async *logs(ref, options, call) {
      yield* deriveLogs(sandbox, ref, await idOf(ref, call), options, call);
    },
  };
}

/** The `not_found` error for a process, with the command that lists them. */
export function unknownProcess(sandbox: string, ref: string): SbxError {
  return new SbxError('not_found', `there is no process '${ref}' in sandbox '${sandbox}'`, {
    hint: `sbx ps ${sandbox} --all`,
  });
}

function codeOf(exit: Exit): number | undefined {
  return 'code' in exit ? exit.code : undefined;
}

function badName(name: string): SbxError {
  return new SbxError(
    'usage',
    `${JSON.stringify(name)} cannot name a process: up to 63 letters, digits, '.', '_' and '-'`,
  );
}

function nameTaken(sandbox: ExecSandbox, name: string): SbxError {
  return new SbxError('conflict', `a process named '${name}' already runs in sandbox '${sandbox.name}'`, {
    hint: `sbx kill ${sandbox.name} ${name}`,
  });
}

function failed(sandbox: ExecSandbox, what: string, stderr: string): SbxError {
  const why = stderr.trim().split('\n').at(-1)?.slice(0, 500) || 'its shell gave no answer';
  return new SbxError('failed', `sandbox '${sandbox.name}' could not ${what}: ${why}`);
}
