/** Which ports of sandboxes are exposed. */
import type { Database } from '../store/database.ts';
import { items } from '../store/items.ts';

export interface ExposedPort {
  readonly port: number;
  /** Whoever wants to see it has to bring this; null: nobody has to. */
  readonly token: string | null;
  readonly createdAt: string;
}

/** Those of all sandboxes, by the sandbox's id. */
export interface ExposedPorts {
  /** In the order in which they were first exposed. */
  list(sandbox: string): ExposedPort[];
  get(sandbox: string, port: number): ExposedPort | undefined;
  put(sandbox: string, exposed: ExposedPort): void;
  /** @returns whether it was exposed. */
  remove(sandbox: string, port: number): boolean;
  clear(sandbox: string): void;
}

export function exposedPorts(db: Database): ExposedPorts {
  const ports = items<ExposedPort>(db, 'port');
  return {
    list: ports.list,
    get: (sandbox, port) => ports.get(sandbox, String(port)),
    put: (sandbox, exposed) => ports.put(sandbox, String(exposed.port), exposed),
    remove: (sandbox, port) => ports.remove(sandbox, String(port)),
    clear: ports.clear,
  };
}
