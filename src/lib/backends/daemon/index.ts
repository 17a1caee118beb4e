/** The daemon backend: sandboxes at a server of the hotcell API. */
import type { Backend, CreateSpec } from '../../backend/contract.ts';
import type { BackendOptions } from '../../backend/registry.ts';
import { SbxError } from '../../errors.ts';
import { openApi, segment } from './api.ts';
import { check } from './check.ts';
import { manifest } from './manifest.ts';
import { infoOf, MEGABYTE, recordOf } from './record.ts';
import { openSandbox } from './sandbox.ts';

/** Opens the backend; connects to nothing. */
export function openDaemonBackend({ name, settings }: Pick<BackendOptions, 'name' | 'settings'>): Backend {
  const api = openApi(name, settings);
  return {
    name,
    manifest,
    async create(spec, call, furnish) {
      const body = createBody(spec);
      if (furnish !== undefined)
        return (await import('./furnish.ts')).createFurnished(api, body, furnish, call);
      const made = await api.json({ method: 'POST', path: '/sandboxes', body }, call);
      return openSandbox(api, recordOf(made, name));
    },
    async get(ref, call) {
      try {
        const path = `/sandboxes/${segment(ref)}`;
        return openSandbox(api, recordOf(await api.json({ method: 'GET', path }, call), name));
      } catch (error) {
        if (!(error instanceof SbxError) || error.code !== 'not_found') throw error;
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
        const info = infoOf(recordOf(each, name), name);
        const matches = Object.entries(labels).every(
          ([key, value]) => Object.hasOwn(info.labels, key) && (value === '' || info.labels[key] === value),
        );
        if (matches && (all || info.state === 'running' || info.state === 'paused')) yield info;
      }
    },
    async destroy(ref, { force }, call) {
      const path = `/sandboxes/${segment(ref)}`;
      try {
        if (!force) {
          const { status } = recordOf(await api.json({ method: 'GET', path }, call), name);
          if (status === 'running' || status === 'paused') {
            throw new SbxError('conflict', `sandbox '${ref}' is ${status}`, {
              backend: name,
              hint: `sbx rm --force ${name}/${ref}`,
            });
          }
        }
        await api.json({ method: 'DELETE', path }, call);
      } catch (error) {
        if (!force || !(error instanceof SbxError) || error.code !== 'not_found') throw error;
      }
    },
    check: (call) => check(api, call),
    can: {},
  };
}

function createBody(spec: CreateSpec): object {
  const { name, image, env, labels, limits, network, workdir, user, idle, egress, command } = spec;
  return {
    name,
    image,
    env,
    labels,
    memoryMb: limits.memory === undefined ? undefined : limits.memory / MEGABYTE,
    cpus: limits.cpus,
    pidsLimit: limits.pids,
    network,
    workdir,
    user,
    sleepAfter: idle,
    egress,
    command,
  };
}
