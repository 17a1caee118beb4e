/**
 * Brings the gateway to the loopback of sandboxes whose backend can listen there: whatever their network is, and even if they have
 * none, it is at 127.0.0.1 and its own port.
 */
import type { Duplex } from 'node:stream';
import type { Call, Listener, Sandbox } from '../../backend/contract.ts';
import { unhurried } from '../../backend/unhurried.ts';
import { SbxError } from '../../errors.ts';

export type FindSandbox = (call: Call) => Promise<Sandbox>;

export interface WithinOptions {
  readonly port: number;
  readonly take: (connection: Duplex) => void;
  /** A line for the operator. */
  readonly notice: (line: string) => void;
}

export interface Within {
  /** Listens in the sandbox, if it does not yet. A failure is told to the operator, once until it starts anew. */
  open(id: string, find: FindSandbox): Promise<void>;
  /** After it was stopped or has started anew. */
  leave(id: string): void;
  close(): Promise<void>;
}

export function listenWithin({ port, take, notice }: WithinOptions): Within {
  const listeners = new Map<string, Promise<Listener | undefined>>();
  const listen = async (find: FindSandbox): Promise<Listener | undefined> => {
    const sandbox = await find(unhurried);
    const { listen } = sandbox.can;
    if (listen === undefined) return undefined;
    // There the gateway itself listens.
    if ((await sandbox.info(unhurried)).network === 'host') return undefined;
    return listen({ host: '127.0.0.1', port }, take, unhurried);
  };
  const end = async (listener: Promise<Listener | undefined>) => {
    await (await listener)?.close();
  };
  return {
    async open(id, find) {
      const known = listeners.get(id);
      const opening =
        known ??
        listen(find).catch((error: unknown) => {
          if (!(error instanceof SbxError)) {
            listeners.delete(id);
            throw error;
          }
          notice(`sandbox ${id} cannot reach the egress gateway: ${error.message}`);
          return undefined;
        });
      listeners.set(id, opening);
      await opening;
    },
    leave(id) {
      const listener = listeners.get(id);
      listeners.delete(id);
      if (listener !== undefined) void end(listener);
    },
    async close() {
      await Promise.all([...listeners.values()].map(end));
      listeners.clear();
    },
  };
}
