/** The daemon backend: sandboxes at a server of the hotcell API. */
import type { Backend, Call, CreateSpec } from '../../backend/contract.ts';
import type { BackendOptions } from '../../backend/registry.ts';
import { SbxError } from '../../errors.ts';
import { openApi, segment } from './api.ts';
import { check } from './check.ts';
import { manifest } from './manifest.ts';
import { negotiation } from './plain/negotiate.ts';
import { namedRecord } from './plain/record.ts';
import { infoOf, MEGABYTE, recordOf } from './record.ts';
import { openSandbox } from './sandbox.ts';
import { snapshotsOf } from './snapshots.ts';

/** Opens the backend; connects to nothing. */
export function openDaemonBackend({ name, settings }: Pick<BackendOptions, 'name' | 'settings'>): Backend {
  const api = openApi(name, settings);
  const { isPlain, isPlainRecord } = negotiation(api);
  /** `act` for `ref`; where nothing has this id and the server knows no names, for the sandbox that a label names so. */
  const found = async <T>(ref: string, act: (path: string) => Promise<T>, call: Call): Promise<T> => {
    try {
      return await act(`/sandboxes/${segment(ref)}`);
    } catch (error) {
      if (!isMissing(error) || !(await isPlain(call))) throw error;
      const named = await (await import('./plain/find.ts')).findByName(api, ref, call);
      if (named === undefined) throw error;
      return await act(`/sandboxes/${segment(named.id)}`);
    }
  };
  const look = (ref: string, call: Call) =>
    found(ref, async (path) => recordOf(await api.json({ method: 'GET', path }, call), name), call);
  return {
    name,
    manifest,
    async create(spec, call, furnish) {
      if (await isPlain(call))
        return (await import('./plain/create.ts')).createPlain(api, spec, createBody, call, furnish);
      const body = createBody(spec);
      if (furnish !== undefined)
        return (await import('./furnish.ts')).createFurnished(api, body, furnish, call);
      const made = await api.json({ method: 'POST', path: '/sandboxes', body }, call);
      return openSandbox(api, recordOf(made, name));
    },
    async get(ref, call) {
      try {
        const record = await look(ref, call);
        if (await isPlainRecord(record, call))
          return (await import('./plain/sandbox.ts')).openPlainSandbox(api, record);
        return openSandbox(api, record);
      } catch (error) {
        if (!isMissing(error)) throw error;
        throw new SbxError('not_found', `no sandbox is called '${ref}' on backend '${name}'`, {
          backend: name,
          hint: `sbx ls --all --backend ${name}`,
        });
      }
    },
    async *list({ all, labels = {} }, call) {
      const { sandboxes } = await api.json<{ readonly sandboxes?: unknown[] }>(
        { method: 'GET', path: '/sandboxes' },
        call,
      );
      for (const each of sandboxes ?? []) {
        const info = infoOf(namedRecord(recordOf(each, name)), name);
        const matches = Object.entries(labels).every(
          ([key, value]) => Object.hasOwn(info.labels, key) && (value === '' || info.labels[key] === value),
        );
        if (matches && (all || info.state === 'running' || info.state === 'paused')) yield info;
      }
    },
    async destroy(ref, { force }, call) {
      try {
        if (!force) {
          const { status } = await look(ref, call);
          if (status === 'running' || status === 'paused') {
            throw new SbxError('conflict', `sandbox '${ref}' is ${status}`, {
              backend: name,
              hint: `sbx rm --force ${name}/${ref}`,
            });
          }
        }
        await found(ref, (path) => api.json({ method: 'DELETE', path }, call), call);
      } catch (error) {
        if (!force || !isMissing(error)) throw error;
      }
    },
    check: (call) => check(api, call),
    can: { snapshots: snapshotsOf(api, { isPlain }) },
  };
}

function isMissing(error: unknown): boolean {
  return error instanceof SbxError && error.code === 'not_found';
}

function createBody(spec: CreateSpec): object {
  const { name, image, snapshot, env, labels, limits, network, workdir, user, idle, ttl, egress, command } =
    spec;
  return {
    name,
    image,
    snapshot,
    env,
    labels,
    memoryMb: limits.memory === undefined ? undefined : limits.memory / MEGABYTE,
    cpus: limits.cpus,
    pidsLimit: limits.pids,
    network,
    workdir,
    user,
    sleepAfter: idle,
    ttl,
    egress,
    command,
  };
}
