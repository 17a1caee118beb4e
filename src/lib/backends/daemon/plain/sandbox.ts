/** A sandbox at a server without the extensions of `sbx serve`: what its routes cannot do is made from commands. */
import type { Call, EnvStore, Sandbox } from '../../../backend/contract.ts';
import {
  lazyArchive,
  lazyDial,
  lazyFiles,
  lazyPorts,
  lazyProcesses,
  lazySessions,
} from '../../../backend/derived/index.ts';
import { SbxError } from '../../../errors.ts';
import type { Api } from '../api.ts';
import { egressOf } from '../egress.ts';
import { infoOf, type RemoteRecord, recordOf } from '../record.ts';
import { namedRecord } from './record.ts';
import { type PlainSandbox, pathOf } from './shell.ts';

export function openPlainSandbox(api: Api, record: RemoteRecord): Sandbox {
  const { id, name = id } = namedRecord(record);
  const at = pathOf({ id });
  const plain: PlainSandbox = { api, id, name };
  const act = async (verb: string, call: Call) => {
    await api.json({ method: 'POST', path: `${at}/${verb}` }, call);
  };
  const exec: Sandbox['exec'] = async (spec, call) =>
    (await import('./exec.ts')).execByText(plain, spec, call);
  const handle = { name, backend: api.backend, exec };
  return {
    id,
    ...handle,
    limitation: 'its server has not the extensions of sbx serve',
    async info(call) {
      const now = recordOf(await api.json({ method: 'GET', path: at }, call), api.backend);
      return infoOf(namedRecord(now), api.backend);
    },
    can: {
      power: { start: (call) => act('start', call), stop: (_, call) => act('stop', call) },
      suspend: { pause: (call) => act('pause', call), resume: (call) => act('start', call) },
      env: envOf(api, name, at),
      archive: lazyArchive(handle),
      files: lazyFiles(handle),
      processes: lazyProcesses(handle),
      ports: lazyPorts(handle),
      dial: lazyDial(handle),
      stats: async (call) => (await import('./stats.ts')).statsOf(api, at, call),
      terminal: true,
      sessions: lazySessions(handle),
      egress: egressOf(api, at),
    },
  };
}

function envOf(api: Api, name: string, at: string): EnvStore {
  const path = `${at}/env`;
  const get = async (call: Call) =>
    (await api.json<{ readonly env: Record<string, string> }>({ method: 'GET', path }, call)).env;
  return {
    get,
    async update(changes, call) {
      const unset = Object.keys(changes).filter((each) => changes[each] === null);
      const present = unset.length === 0 ? {} : await get(call);
      const kept = unset.filter((each) => Object.hasOwn(present, each));
      if (kept.length > 0) {
        throw new SbxError('unsupported', `the server of sandbox '${name}' cannot unset ${kept.join(', ')}`, {
          backend: api.backend,
          hint: `set it to nothing: sbx env set ${name} ${kept[0]}=`,
        });
      }
      const env = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null));
      await api.json({ method: 'POST', path, body: { env } }, call);
    },
  };
}
