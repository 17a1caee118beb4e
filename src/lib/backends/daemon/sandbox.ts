/** A sandbox at a server of ours. */
import type { Archive, Call, EnvStore, Files, LogChunk, Processes, Sandbox } from '../../backend/contract.ts';
import { sessionsFrom } from '../../backend/derived/index.ts';
import { FRAMES } from '../../wire/links.ts';
import { type Api, segment } from './api.ts';
import { type Calls, callsOf } from './calls.ts';
import { egressOf } from './egress.ts';
import { infoOf, type RemoteRecord, recordOf } from './record.ts';
import { sandboxSnapshotsOf } from './snapshots.ts';

export function openSandbox(api: Api, record: RemoteRecord): Sandbox {
  const { id } = record;
  let { name = id } = record;
  const at = `/sandboxes/${segment(id)}`;
  const calls = callsOf(api, id);
  const act = async (verb: string, call: Call) => {
    await api.json({ method: 'POST', path: `${at}/${verb}` }, call);
  };
  return {
    id,
    get name() {
      return name;
    },
    backend: api.backend,
    async info(call) {
      const now = recordOf(await api.json({ method: 'GET', path: at }, call), api.backend);
      return infoOf(now, api.backend);
    },
    exec: async (spec, call) => (await import('./exec.ts')).execOverLink(api, { id, name }, spec, call),
    can: {
      power: { start: (call) => act('start', call), stop: (_, call) => act('stop', call) },
      rename: async (next, call) => {
        await api.json({ method: 'POST', path: `${at}/rename`, body: { name: next } }, call);
        name = next;
      },
      fork: async (options, call) => {
        const path = `${at}/fork`;
        return openSandbox(
          api,
          recordOf(await api.json({ method: 'POST', path, body: options }, call), api.backend),
        );
      },
      snapshots: sandboxSnapshotsOf(api, at),
      lifetime: {
        async extend(ms, call) {
          const path = `${at}/extend`;
          return recordOf(await api.json({ method: 'POST', path, body: { ms } }, call), api.backend)
            .expiresAt;
        },
      },
      suspend: { pause: (call) => act('pause', call), resume: (call) => act('start', call) },
      env: envOf(api, at),
      archive: archiveOf(calls),
      files: filesOf(calls),
      processes: processesOf(calls),
      ports: { list: (call) => calls.value('ports.list', {}, call) },
      dial: ({ port, host }, call) => {
        const args = encodeURIComponent(JSON.stringify({ port, host }));
        return api.upgrade(`${at}/links/dial?args=${args}`, FRAMES, call);
      },
      stats: (call) => calls.value('stats', {}, call),
      diff: ({ since }, call) => calls.list('diff', { since }, call),
      terminal: true,
      sessions: sessionsFrom(async () => (await import('./sessions.ts')).remoteSessions(api, id, calls)),
      egress: egressOf(api, at),
    },
  };
}

function envOf(api: Api, at: string): EnvStore {
  const path = `${at}/env`;
  return {
    async get(call) {
      return (await api.json<{ readonly env: Record<string, string> }>({ method: 'GET', path }, call)).env;
    },
    async update(env, call) {
      await api.json({ method: 'POST', path, body: { env } }, call);
    },
  };
}

const flag = (value: boolean | undefined) => (value === true ? '1' : undefined);

function archiveOf(calls: Calls): Archive {
  return {
    read: (path, { contents, dereference, exclude }, call) =>
      calls.download(
        'archive',
        { path, contents: flag(contents), dereference: flag(dereference), exclude },
        call,
      ),
    write: (path, tar, { owner }, call) => calls.upload('archive', { path, owner }, tar, call),
  };
}

function filesOf(calls: Calls): Files {
  return {
    stat: (path, call) => calls.value('files.stat', { path }, call),
    list: (path, call) => calls.list('files.list', { path }, call),
    read: (path, call) => calls.download('content', { path }, call),
    write: (path, content, { mode, parents }, call) =>
      calls.upload('content', { path, mode: mode?.toString(8), parents: flag(parents) }, content, call),
    makeDirectory: async (path, options, call) =>
      void (await calls.value('files.makeDirectory', { path, ...options }, call)),
    remove: async (path, options, call) =>
      void (await calls.value('files.remove', { path, ...options }, call)),
    watch: (path, { recursive, pauseMs }, call) =>
      calls.list('files.watch', { path, recursive, pauseMs }, call),
  };
}

function processesOf(calls: Calls): Processes {
  return {
    start: (spec, call) => calls.value('processes.start', spec, call),
    list: (call) => calls.list('processes.list', {}, call),
    kill: async (ref, signal, call) => void (await calls.value('processes.kill', { ref, signal }, call)),
    async *logs(ref, options, call) {
      const pieces = calls.list<{ readonly data: string; readonly time?: number }>(
        'processes.logs',
        { ref, ...options },
        call,
      );
      for await (const { data, time } of pieces)
        yield { data: Buffer.from(data, 'base64'), time } satisfies LogChunk;
    },
  };
}
