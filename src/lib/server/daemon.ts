/** What the routes share. */
import type { Backend } from '../backend/contract.ts';
import type { CapabilityIndex } from '../backend/need.ts';
import type { Backups } from './backups.ts';
import type { Capacity } from './capacity.ts';
import type { Code } from './code.ts';
import type { Egress } from './egress/egress.ts';
import type { Fleet } from './fleet.ts';
import type { Meter } from './meter.ts';
import type { ExposedPorts } from './preview/exposed-ports.ts';
import type { Previews } from './preview/server.ts';
import type { Restores } from './restore.ts';
import type { ServeSettings } from './settings.ts';
import type { Snapshots } from './snapshots.ts';
import type { Database } from './store/database.ts';
import type { SandboxRows } from './store/sandboxes.ts';
import type { Traces } from './traces.ts';

/** What its parts are made from. */
export interface Base {
  readonly settings: ServeSettings;
  /** The folder of this server's state. */
  readonly folder: string;
  readonly db: Database;
  readonly rows: SandboxRows;
  readonly capacity: Capacity;
  readonly fleet: Fleet;
  readonly egress: Egress;
  readonly snapshots: Snapshots;
  readonly backend: (driver: string) => Promise<Backend>;
  readonly having: CapabilityIndex;
  readonly now: () => Date;
  /** A line for the operator: no secrets, no ids of tokens. */
  readonly notice: (line: string) => void;
  /** Told to whoever keeps something of a sandbox that is not in the database. */
  readonly onFresh: Listeners;
  readonly onGone: Listeners;
}

export interface Daemon extends Base {
  readonly backups: Backups;
  readonly restores: Restores;
  readonly code: Code;
  readonly meter: Meter;
  readonly traces: Traces;
  readonly exposed: ExposedPorts;
  readonly previews: Previews;
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
