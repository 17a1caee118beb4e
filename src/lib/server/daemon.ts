/** What the routes share. */
import type { Backend } from '../backend/contract.ts';
import type { CapabilityIndex } from '../backend/need.ts';
import type { Egress } from './egress/egress.ts';
import type { Fleet } from './fleet.ts';
import type { ExposedPorts } from './preview/exposed-ports.ts';
import type { Previews } from './preview/server.ts';
import type { ServeSettings } from './settings.ts';
import type { Database } from './store/database.ts';
import type { SandboxRows } from './store/sandboxes.ts';

export interface Daemon {
  readonly settings: ServeSettings;
  readonly db: Database;
  readonly rows: SandboxRows;
  readonly fleet: Fleet;
  readonly egress: Egress;
  readonly backend: (driver: string) => Promise<Backend>;
  readonly having: CapabilityIndex;
  readonly exposed: ExposedPorts;
  readonly previews: Previews;
  readonly now: () => Date;
  /** A line for the operator: no secrets, no ids of tokens. */
  readonly notice: (line: string) => void;
  /** Told to whoever keeps something of a sandbox that is not in the database. */
  readonly onFresh: Listeners;
  readonly onGone: Listeners;
}

/** Functions that are called with the id of a sandbox. */
export interface Listeners {
  add(listener: (id: string) => void): void;
  call(id: string): void;
}

export function listeners(): Listeners {
  const all: ((id: string) => void)[] = [];
  return {
    add: (listener) => void all.push(listener),
    call: (id) => {
      for (const listener of all) listener(id);
    },
  };
}
