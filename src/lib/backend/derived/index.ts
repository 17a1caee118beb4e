/** Capabilities made from exec, as a sandbox's fields. The code behind each is loaded when it is first used. */
import type { Archive, Files, Ports, Processes, SandboxCapabilities, Sessions } from '../contract.ts';
import type { DerivedPortsOptions } from './ports.ts';
import type { ExecSandbox } from './run-guest.ts';
import type { StatsOptions } from './stats.ts';

/** Trees as tar streams, by the sandbox's own `tar`. */
export function lazyArchive(sandbox: ExecSandbox): Archive {
  const load = once(async () => (await import('./archive.ts')).deriveArchive(sandbox));
  return {
    read: async (...args) => (await load()).read(...args),
    write: async (...args) => (await load()).write(...args),
  };
}

/** Single files, by the sandbox's own programs. */
export function lazyFiles(sandbox: ExecSandbox): Files {
  const load = once(async () => (await import('./files.ts')).deriveFiles(sandbox));
  return {
    stat: async (...args) => (await load()).stat(...args),
    async *list(...args) {
      yield* (await load()).list(...args);
    },
    read: async (...args) => (await load()).read(...args),
    write: async (...args) => (await load()).write(...args),
    makeDirectory: async (...args) => (await load()).makeDirectory(...args),
    remove: async (...args) => (await load()).remove(...args),
    async *watch(...args) {
      const { watch } = await load();
      if (watch !== undefined) yield* watch(...args);
    },
  };
}

/** Background commands, kept by a small supervisor inside. */
export function lazyProcesses(sandbox: ExecSandbox): Processes {
  const load = once(async () => (await import('./processes.ts')).deriveProcesses(sandbox));
  return {
    start: async (...args) => (await load()).start(...args),
    async *list(...args) {
      yield* (await load()).list(...args);
    },
    kill: async (...args) => (await load()).kill(...args),
    async *logs(...args) {
      yield* (await load()).logs(...args);
    },
  };
}

/** Named terminals that outlive the client, kept by dtach inside. */
export function lazySessions(sandbox: ExecSandbox): Sessions {
  return sessionsFrom(async () => (await import('./sessions.ts')).deriveSessions(sandbox));
}

/** Sessions whose code is loaded by the first call. */
export function sessionsFrom(get: () => Promise<Sessions>): Sessions {
  const load = once(get);
  return {
    create: async (...args) => (await load()).create(...args),
    list: async (...args) => (await load()).list(...args),
    kill: async (...args) => (await load()).kill(...args),
    rename: async (...args) => (await load()).rename(...args),
    attach: async (...args) => (await load()).attach(...args),
    recording: async (...args) => (await load()).recording(...args),
    surroundings: async (...args) => (await load()).surroundings(...args),
  };
}

/** What listens, from the kernel's tables inside. */
export function lazyPorts(sandbox: ExecSandbox, options: () => DerivedPortsOptions = () => ({})): Ports {
  return { list: async (call) => (await import('./ports.ts')).derivePorts(sandbox, options()).list(call) };
}

/** Use of resources, from control groups and /proc inside. */
export function lazyStats(
  sandbox: ExecSandbox,
  options: () => StatsOptions = () => ({}),
): NonNullable<SandboxCapabilities['stats']> {
  return async (call) => (await import('./stats.ts')).deriveStats(sandbox, options())(call);
}

/** Connections to ports inside, through a relay started by exec. */
export function lazyDial(sandbox: ExecSandbox): NonNullable<SandboxCapabilities['dial']> {
  return async (target, call) => (await import('./dial.ts')).deriveDial(sandbox)(target, call);
}

function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load();
    return loaded;
  };
}
