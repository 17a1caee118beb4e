/** Making a sandbox at a server that passes over options that it does not know. */
import type { Call, CreateSpec, Furnish, Sandbox } from '../../../backend/contract.ts';
import { unhurried } from '../../../backend/unhurried.ts';
import { SbxError } from '../../../errors.ts';
import { type Api, segment } from '../api.ts';
import { type RemoteRecord, recordOf } from '../record.ts';
import { findByName } from './find.ts';
import { NAME_LABEL } from './record.ts';
import { openPlainSandbox } from './sandbox.ts';

/**
 * Whoever has a name first keeps it: the server lists sandboxes in the order in which they were made. Until it is furnished others
 * may see it, and if we die it stays.
 * @param bodyOf what the server is sent
 */
export async function createPlain(
  api: Api,
  spec: CreateSpec,
  bodyOf: (spec: CreateSpec) => object,
  call: Call,
  furnish: Furnish | undefined,
): Promise<Sandbox> {
  refuseUnknown(api, spec);
  const { name } = spec;
  if (name !== undefined && (await findByName(api, name, call)) !== undefined) throw taken(api, name);
  const labels = name === undefined ? spec.labels : { ...spec.labels, [NAME_LABEL]: name };
  const body = bodyOf({ ...spec, name: undefined, labels });
  const record = recordOf(await api.json({ method: 'POST', path: '/sandboxes', body }, call), api.backend);
  try {
    if (name !== undefined && (await findByName(api, name, call))?.id !== record.id) throw taken(api, name);
    const sandbox = openPlainSandbox(api, record);
    await furnish?.(sandbox);
    return sandbox;
  } catch (error) {
    await remove(api, record);
    throw error;
  }
}

async function remove(api: Api, { id }: RemoteRecord): Promise<void> {
  try {
    await api.json({ method: 'DELETE', path: `/sandboxes/${segment(id)}` }, unhurried);
  } catch (error) {
    if (!(error instanceof SbxError) || error.code !== 'not_found') throw error;
  }
}

function refuseUnknown({ backend }: Api, spec: CreateSpec): void {
  const { snapshot, ttl, network, workdir, user, command } = spec;
  const given = {
    '--from': snapshot,
    '--ttl': ttl,
    '--network': network,
    '--workdir': workdir,
    '--user': user,
    'a main command': command,
  };
  const refused = Object.entries(given).flatMap(([as, value]) => (value === undefined ? [] : [as]));
  if (refused.length === 0) return;
  throw new SbxError(
    'unsupported',
    `the server of backend '${backend}' cannot honour ${refused.join(', ')}`,
    {
      backend,
      hint: 'leave it out, or use a server of sbx serve',
    },
  );
}

function taken({ backend }: Api, name: string): SbxError {
  return new SbxError('conflict', `a sandbox named '${name}' is there already on backend '${backend}'`, {
    backend,
    hint: `sbx rm ${backend}/${name}`,
  });
}
