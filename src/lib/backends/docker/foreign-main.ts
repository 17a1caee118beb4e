/** The main process of a container that sbx did not make: its process 1, as the engine knows it. */
import type { Call, LogChunk, LogOptions, ProcessInfo, SignalName } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import type { Inspected } from './api.ts';
import { type Box, notRunning } from './box.ts';
import { segment } from './engine.ts';
import { time } from './info.ts';
import { inspectBox } from './snapshots.ts';

const NAME = 'main';
/** Characters of the container's id that stand for it: as many as ids of processes have. */
const SHORT = 8;

export interface ForeignMain {
  /** Whether it is the process that `ref` names. */
  is(ref: string): boolean;
  info(call: Call): Promise<ProcessInfo>;
  /** `conflict` when it does not run. */
  kill(signal: SignalName, call: Call): Promise<void>;
  logs(options: LogOptions, call: Call): AsyncIterable<LogChunk>;
}

/** Process 1 of `box`. */
export function foreignMain(box: Box): ForeignMain {
  const id = box.container.slice(0, SHORT);
  const { engine } = box.docker;
  return {
    is: (ref) => ref === NAME || ref === id,
    info: async (call) => infoOf(id, await inspectBox(box, call)),
    async kill(signal, call) {
      const path = `/containers/${segment(box.container)}/kill`;
      const what = `send ${signal} to sandbox '${box.name}'`;
      try {
        await engine.json({ method: 'POST', path, query: { signal }, what }, call);
      } catch (error) {
        if (error instanceof SbxError && error.code === 'conflict') throw notRunning(box, '', error);
        throw error;
      }
    },
    async *logs(options, call) {
      yield* (await import('./engine-log.ts')).engineLog(box, options, call);
    },
  };
}

function infoOf(id: string, { State, Config }: Inspected): ProcessInfo {
  const running = State.Running === true;
  const startedAt = time(State.StartedAt);
  const endedAt = running ? undefined : time(State.FinishedAt);
  return {
    id,
    name: NAME,
    argv: [...(Config.Entrypoint ?? []), ...(Config.Cmd ?? [])],
    state: running ? 'running' : 'exited',
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(running || State.ExitCode === undefined ? {} : { exit: { code: State.ExitCode } }),
  };
}
