/** Sandboxes of a plain server by the names that labels give them. */
import type { Call } from '../../../backend/contract.ts';
import type { Api } from '../api.ts';
import { type RemoteRecord, recordOf } from '../record.ts';
import { NAME_LABEL } from './record.ts';

/** The first that was made with this name. */
export async function findByName(api: Api, name: string, call: Call): Promise<RemoteRecord | undefined> {
  const { sandboxes = [] } = await api.json<{ readonly sandboxes?: unknown[] }>(
    { method: 'GET', path: '/sandboxes' },
    call,
  );
  return sandboxes
    .map((each) => recordOf(each, api.backend))
    .find(({ labels }) => labels[NAME_LABEL] === name);
}
