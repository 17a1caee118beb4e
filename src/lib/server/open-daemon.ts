/** Puts together what the routes share. */
import { SbxError } from '../errors.ts';
import { openBackups } from './backups.ts';
import { openCapacity } from './capacity.ts';
import { openCode } from './code.ts';
import { remake } from './create.ts';
import { type Base, type Daemon, listeners } from './daemon.ts';
import { openEgress } from './egress/egress.ts';
import { type FleetOptions, openFleet } from './fleet.ts';
import type { Handled } from './http/dispatch.ts';
import { openMeter } from './meter.ts';
import { openRestores } from './restore.ts';
import type { ServeOptions } from './serve.ts';
import { openSnapshots } from './snapshots.ts';
import type { Database } from './store/database.ts';
import { sandboxRows } from './store/sandboxes.ts';
import type { Traces } from './traces.ts';

/** What the server makes besides. */
export interface DaemonParts {
  readonly traces: Traces;
  readonly onHandled: (handled: Handled) => void;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
}

/** @throws SbxError when the folder cannot be used. */
export async function openDaemon(
  db: Database,
  {
    settings,
    backends,
    folder,
    now,
    notice,
  }: Pick<ServeOptions, 'settings' | 'backends' | 'folder' | 'now' | 'notice'>,
  { traces, onHandled, stopping }: DaemonParts,
): Promise<Omit<Daemon, 'exposed' | 'previews'>> {
  const rows = sandboxRows(db);
  const backend = (driver: string) => backends.get(driver);
  const onFresh = listeners();
  const onGone = listeners();
  const capacity = openCapacity(rows, settings);
  const { bodyLimit } = settings;
  const egress = await openEgress({
    settings: settings.egress,
    ...{ bodyLimit, db, rows, now, notice, onHandled, stopping },
  });
  onFresh.add(egress.leave);
  onGone.add(egress.leave);
  const fleet = openFleet({
    rows,
    backend,
    now,
    onFresh: onFresh.call,
    onGone: onGone.call,
    onRuns: ({ id }, sandbox) => egress.reach(id, async () => sandbox),
    onAwake: (id, sandbox, call) => finish(id, sandbox, call),
    admit: ({ status, limits }) => capacity.promise(status === 'stopped' ? limits.memoryMb : 0),
    remake: (record, call) => remake(base, record, call),
    notice,
  });
  const { having } = backends;
  const parts = {
    settings,
    folder,
    db,
    rows,
    capacity,
    fleet,
    egress,
    backend,
    having,
    now,
    notice,
    onFresh,
    onGone,
  };
  const base: Base = { ...parts, snapshots: openSnapshots(parts) };
  const backups = await openBackups(base);
  const restores = openRestores(base, backups);
  const code = openCode(base);
  const meter = openMeter(base);
  const daemon = { ...base, backups, restores, code, meter, traces };
  /** What was cut off in a sandbox that runs again; it can be used all the same when that fails. */
  const finish: FleetOptions['onAwake'] = async (id, sandbox, call) => {
    try {
      await restores.finish(id, sandbox, call);
      await code.finish(id, sandbox, call);
    } catch (error) {
      if (!(error instanceof SbxError) || call.signal.aborted) throw error;
      notice(`cannot tidy up in sandbox '${sandbox.name}': ${error.message}`);
    }
  };
  return daemon;
}
