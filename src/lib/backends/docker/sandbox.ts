/** The handle of a sandbox of this backend. What a verb does not use is not loaded. */
import type { Sandbox, SandboxCapabilities } from '../../backend/contract.ts';
import { lazyFiles, lazyPorts, lazySessions } from '../../backend/derived/index.ts';
import type { Inspected } from './api.ts';
import { type Box, missing } from './box.ts';
import { execDocker } from './exec.ts';
import { inspect } from './find.ts';
import { inspectedInfo } from './info.ts';

/** A handle; makes no call. */
export function openSandbox(box: Box): Sandbox {
  const { docker } = box;
  const sandbox: Sandbox = {
    id: box.id,
    get name() {
      return box.name;
    },
    backend: docker.name,
    async info(call) {
      const found: Inspected | undefined = await inspect(docker.engine, box.container, call);
      if (found === undefined) throw missing(docker, box.name);
      return inspectedInfo(docker.name, found);
    },
    exec: (spec, call) => execDocker(box, spec, call),
    can: {},
  };
  return Object.assign(sandbox, { can: capabilities(box, sandbox) });
}

function capabilities(box: Box, sandbox: Sandbox): SandboxCapabilities {
  const power = () => import('./power.ts');
  const processes = async () => (await import('./processes.ts')).processesOf(box, sandbox);
  let dial: SandboxCapabilities['dial'];
  return {
    power: {
      start: async (call) => (await power()).start(box, sandbox, call),
      stop: async ({ graceMs }, call) => (await power()).stop(box, graceMs, call),
    },
    suspend: {
      pause: async (call) => (await power()).pause(box, call),
      resume: async (call) => (await power()).resume(box, call),
    },
    rename: async (name, call) => (await import('./rename.ts')).rename(box, name, call),
    fork: async (options, call) => (await import('./fork.ts')).fork(box, options, call),
    snapshots: {
      create: async (options, call) => (await import('./snapshots.ts')).createSnapshot(box, options, call),
      restore: async (ref, call) => (await import('./restore.ts')).restore(box, sandbox, ref, call),
    },
    async *diff({ since }, call) {
      yield* (await import('./diff.ts')).changes(box, since, call);
    },
    env: {
      get: async (call) => (await import('./env.ts')).environmentOf(box).get(call),
      update: async (changes, call) => (await import('./env.ts')).environmentOf(box).update(changes, call),
    },
    archive: {
      typeOf: async (path, call) => {
        const found = await (await import('./engine-view.ts')).engineView(box, path, call);
        return found === 'unseen' ? undefined : found;
      },
      read: async (...args) => (await import('./archive.ts')).archiveOf(box, sandbox).read(...args),
      write: async (...args) => (await import('./archive.ts')).archiveOf(box, sandbox).write(...args),
    },
    files: lazyFiles(sandbox),
    processes: {
      start: async (...args) => (await processes()).start(...args),
      async *list(...args) {
        yield* (await processes()).list(...args);
      },
      kill: async (...args) => (await processes()).kill(...args),
      async *logs(...args) {
        yield* (await processes()).logs(...args);
      },
    },
    ports: lazyPorts(sandbox, () => ({ user: 'root' })),
    async dial(target, call) {
      dial ??= (await import('./dial.ts')).dialer(box, sandbox);
      return dial(target, call);
    },
    sessions: lazySessions(sandbox),
    stats: async (call) => (await import('./stats.ts')).statsOf(box, call),
    terminal: true,
  };
}
