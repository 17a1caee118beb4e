/** Whether a server has the extensions of `sbx serve`. docs/protocol.md, "What sbx serve has besides"; docs/adr/0144-plain-servers.md. */
import type { Call } from '../../../backend/contract.ts';
import type { Api } from '../api.ts';
import type { RemoteRecord } from '../record.ts';

/** Asked once, when it is first needed. */
export interface Negotiation {
  isPlain(call: Call): Promise<boolean>;
  /** The same for the server that said `record`: ours always say a name, and need not be asked. */
  isPlainRecord(record: RemoteRecord, call: Call): Promise<boolean>;
}

export function negotiation(api: Api): Negotiation {
  let known: boolean | undefined;
  const isPlain = async (call: Call) => {
    if (known === undefined) {
      const { extensions } = await api.json<{ readonly extensions?: { readonly contract?: unknown } }>(
        { method: 'GET', path: '/info' },
        call,
      );
      known = typeof extensions?.contract !== 'number';
    }
    return known;
  };
  return {
    isPlain,
    isPlainRecord: async (record, call) => record.name === undefined && (await isPlain(call)),
  };
}
