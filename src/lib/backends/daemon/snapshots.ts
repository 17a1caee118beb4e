/** Snapshots at a server of ours. docs/protocol.md, "Snapshots, copies, names and lifetimes". */
import type { Call, SandboxSnapshots, SnapshotInfo, SnapshotStore } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { type Api, type ApiRequest, segment } from './api.ts';
import type { Negotiation } from './plain/negotiate.ts';
import { optionalText, texts } from './record.ts';

/** Those of the server. A plain one has none. */
export function snapshotsOf(api: Api, { isPlain }: Pick<Negotiation, 'isPlain'>): SnapshotStore {
  const ask = async <T>(request: ApiRequest, call: Call): Promise<T> => {
    try {
      return await api.json<T>(request, call);
    } catch (error) {
      if (!(error instanceof SbxError) || error.code !== 'not_found' || !(await isPlain(call))) throw error;
      throw new SbxError('unsupported', `the server of backend '${api.backend}' has no snapshots`, {
        backend: api.backend,
        hint: 'use a server of sbx serve',
      });
    }
  };
  const pathOf = (ref: string) => `/snapshots/${segment(ref)}`;
  return {
    async *list(call) {
      const request = { method: 'GET', path: '/snapshots' } as const;
      const { snapshots } = await ask<{ readonly snapshots?: unknown[] }>(request, call);
      for (const each of snapshots ?? []) yield snapshotOf(each, api);
    },
    get: async (ref, call) => snapshotOf(await ask({ method: 'GET', path: pathOf(ref) }, call), api),
    async remove(ref, call) {
      await ask({ method: 'DELETE', path: pathOf(ref) }, call);
    },
  };
}

/** What one sandbox does with them. @param at its path */
export function sandboxSnapshotsOf(api: Api, at: string): SandboxSnapshots {
  const path = `${at}/snapshots`;
  return {
    create: async (options, call) =>
      snapshotOf(await api.json({ method: 'POST', path, body: options }, call), api),
    async restore(snapshot, call) {
      await api.json({ method: 'POST', path: `${path}/restore`, body: { snapshot } }, call);
    },
  };
}

function snapshotOf(value: unknown, { backend }: Api): SnapshotInfo {
  const { id, createdAt, name, sandbox, size, labels } = (value ?? {}) as Record<string, unknown>;
  if (typeof id !== 'string' || typeof createdAt !== 'string')
    throw new SbxError('failed', 'the server sent something that is no snapshot', { backend });
  return {
    id,
    createdAt,
    name: optionalText(name),
    sandbox: optionalText(sandbox),
    size: typeof size === 'number' ? size : undefined,
    labels: texts(labels),
  };
}
