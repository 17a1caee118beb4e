/** The handle of a local sandbox. What a verb does not use is not loaded. */
import type { DialTarget, ListQuery, Sandbox, SandboxCapabilities } from '../../backend/contract.ts';
import { lazyArchive, lazyFiles, lazyPorts, lazyProcesses } from '../../backend/derived/index.ts';
import { SbxError } from '../../errors.ts';
import type { Local } from './context.ts';
import { execLocal, runningInit } from './exec.ts';
import { brokenInfo, infoOf } from './info.ts';
import { readInit } from './init-process.ts';
import { sandboxLayout } from './layout.ts';
import { readRecord, type SandboxRecord, tryRecord } from './record.ts';

/** Opens the sandbox with this id; touches no file. */
export function openSandbox(local: Local, ref: { readonly id: string; readonly name: string }): Sandbox {
  const files = sandboxLayout(local.layout, ref.id);
  const record = (): SandboxRecord => {
    const found = readRecord(files.record);
    if (found !== undefined && found.phase !== 'removing') return found;
    throw new SbxError('not_found', `sandbox '${ref.name}' is gone`, {
      backend: local.name,
      hint: 'sbx ls --all',
    });
  };
  const sandbox: Sandbox = {
    id: ref.id,
    get name() {
      const found = tryRecord(files.record);
      return found === undefined || found instanceof SbxError ? ref.name : found.name;
    },
    backend: local.name,
    info: async () => {
      const found = tryRecord(files.record);
      return found instanceof SbxError ? brokenInfo(local, ref.id, found) : infoOf(local, record());
    },
    async exec(spec, call) {
      if (call.signal.aborted) throw new SbxError('interrupted', 'interrupted');
      return execLocal(local, ref, spec);
    },
    can: {},
  };
  return Object.assign(sandbox, { can: capabilities(local, ref, sandbox, record) });
}

function capabilities(
  local: Local,
  ref: { readonly id: string; readonly name: string },
  sandbox: Sandbox,
  record: () => SandboxRecord,
): SandboxCapabilities {
  const files = sandboxLayout(local.layout, ref.id);
  const sharesNetwork = () => readInit(files.init)?.network === 'host';
  const inside = lazyProcesses(sandbox);
  const folder = async () => {
    const { folderProcesses } = await import('../../backend/derived/process-folder.ts');
    return folderProcesses(files.guest, {
      running: readInit(files.init) !== undefined,
      sandbox: record().name,
    });
  };
  const dialer = async () => {
    const { openDialer } = await import('./dial.ts');
    return openDialer(runningInit(local, record(), files.init));
  };
  return {
    power: {
      start: async (call) => (await import('./power.ts')).start(local, ref, call),
      stop: async ({ graceMs }, call) => (await import('./power.ts')).stop(local, ref, graceMs, call),
    },
    suspend: {
      pause: async (call) => (await import('./pause.ts')).pause(local, ref, call),
      resume: async (call) => (await import('./pause.ts')).resume(local, ref, call),
    },
    lifetime: {
      extend: async (ms, call) => (await import('./time-to-live.ts')).extend(local, ref, ms, call),
    },
    rename: async (name, call) => (await import('./edit.ts')).rename(local, ref, name, call),
    fork: async (options, call) => (await import('./create.ts')).fork(local, ref, options.name, call),
    snapshots: {
      create: async (options, call) =>
        (await import('./snapshots.ts')).createSnapshot(local, ref, options, call),
      restore: async (snapshot, call) =>
        (await import('./snapshots.ts')).restoreSnapshot(local, ref, snapshot, call),
    },
    async *diff({ since }) {
      yield* (await import('./diff.ts')).changes(local, record(), since);
    },
    env: {
      get: async () => record().env,
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
    ports: lazyPorts(sandbox, () => ({ ownedOnly: sharesNetwork(), user: 'root' })),
    dial: async (target: DialTarget, call) => (await dialer()).dial(target, call),
    listen: async (target, onConnection, call) => (await dialer()).listen(target, onConnection, call),
    async stats(call) {
      const { statsOf } = await import('./stats.ts');
      const present = record();
      return statsOf(sandbox, present, runningInit(local, present, files.init), call);
    },
    terminal: true,
  };
}

/** Whether a sandbox belongs to the answer of a query. */
export function matches(query: ListQuery, state: string, labels: Readonly<Record<string, string>>): boolean {
  if (!query.all && state !== 'running' && state !== 'paused' && state !== 'creating') return false;
  return Object.entries(query.labels ?? {}).every(
    ([key, value]) => labels[key] !== undefined && (value === '' || labels[key] === value),
  );
}
