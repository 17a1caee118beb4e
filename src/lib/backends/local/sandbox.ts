/** What the handles of all local sandboxes have in common. What a verb does not use is not loaded. */
import type { Call, ExecSpec, ListQuery, Running, Sandbox } from '../../backend/contract.ts';
import { lazyArchive, lazyFiles, lazyProcesses, sessionsFrom } from '../../backend/derived/index.ts';
import { SbxError } from '../../errors.ts';
import type { Local } from './context.ts';
import { runningInit } from './exec.ts';
import { brokenInfo, infoOf } from './info.ts';
import { readInit } from './init-process.ts';
import { sandboxLayout } from './layout.ts';
import { readRecord, type SandboxRecord, tryRecord } from './record.ts';

/** Which sandbox a handle is for. */
export interface Ref {
  readonly id: string;
  readonly name: string;
  /** Absent where the record cannot be read. */
  readonly isolation?: SandboxRecord['isolation'] | undefined;
}

/** A handle that can do nothing yet but run commands. */
export interface Handle extends Sandbox {
  /** The present record; `not_found` when the sandbox is gone. */
  record(): SandboxRecord;
}

/** The handle of the sandbox `ref`; touches no file. */
export function handleOf(local: Local, ref: Ref, exec: (spec: ExecSpec) => Promise<Running>): Handle {
  const files = sandboxLayout(local.layout, ref.id);
  const record = (): SandboxRecord => {
    const found = readRecord(files.record);
    if (found !== undefined && found.phase !== 'removing') return found;
    throw new SbxError('not_found', `sandbox '${ref.name}' is gone`, {
      backend: local.name,
      hint: 'sbx ls --all',
    });
  };
  return {
    id: ref.id,
    get name() {
      const found = tryRecord(files.record);
      return found === undefined || found instanceof SbxError ? ref.name : found.name;
    },
    backend: local.name,
    record,
    info: async () => {
      const found = tryRecord(files.record);
      return found instanceof SbxError ? brokenInfo(local, ref.id, found) : infoOf(local, record());
    },
    async exec(spec, call: Call) {
      if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
      return exec(spec);
    },
    can: {},
  };
}

/** What every local sandbox can do. */
export function commonCapabilities(local: Local, ref: Ref, sandbox: Handle) {
  const files = sandboxLayout(local.layout, ref.id);
  const inside = lazyProcesses(sandbox);
  const folder = async () => {
    const { folderProcesses } = await import('../../backend/derived/process-folder.ts');
    return folderProcesses(files.guest, {
      running: readInit(files.init) !== undefined,
      sandbox: sandbox.record().name,
    });
  };
  return {
    power: {
      start: async (call) => (await import('./power.ts')).start(local, ref, call),
      stop: async ({ graceMs }, call) => (await import('./power.ts')).stop(local, ref, graceMs, call),
    },
    lifetime: {
      extend: async (ms, call) => (await import('./time-to-live.ts')).extend(local, ref, ms, call),
    },
    rename: async (name, call) => (await import('./edit.ts')).rename(local, ref, name, call),
    env: {
      get: async () => sandbox.record().env,
      update: async (changes, call) => (await import('./edit.ts')).updateEnv(local, ref, changes, call),
    },
    archive: lazyArchive(sandbox),
    files: lazyFiles(sandbox),
    processes: {
      start: inside.start,
      kill: inside.kill,
      async *list(call) {
        yield* (await folder()).list(call);
      },
      async *logs(process, options, call) {
        yield* (await folder()).logs(process, options, call);
      },
    },
    terminal: true,
    sessions: sessionsFrom(async () =>
      (await import('./sessions.ts')).localSessions(sandbox, {
        guest: files.guest,
        refuseResting: () => void runningInit(local, sandbox.record(), files.init),
        isRunning: () => readInit(files.init) !== undefined,
      }),
    ),
  } satisfies Sandbox['can'];
}

/** Whether a sandbox belongs to the answer of a query. */
export function matches(query: ListQuery, state: string, labels: Readonly<Record<string, string>>): boolean {
  if (!query.all && state !== 'running' && state !== 'paused' && state !== 'creating') return false;
  // Most queries have none, and a list asks for each of a thousand sandboxes.
  for (const key in query.labels) {
    const wanted = query.labels[key];
    if (labels[key] === undefined || (wanted !== '' && labels[key] !== wanted)) return false;
  }
  return true;
}
