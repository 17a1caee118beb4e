/**
 * Snapshots of the server's sandboxes. On its backend each is called by the server's id for it, which is written down
 * before it is taken, so that a server that dies meanwhile knows what to remove. Names that people give are the server's alone.
 */
import type { Call, SnapshotInfo } from '../backend/contract.ts';
import { need } from '../backend/need.ts';
import { checkLabel, checkName } from '../backend/spec.ts';
import { unhurried } from '../backend/unhurried.ts';
import { SbxError } from '../errors.ts';
import { randomHex } from '../util/random-id.ts';
import type { Base } from './daemon.ts';
import { OWNER_LABEL } from './fleet.ts';
import { withheldFrom } from './inheritance.ts';
import type { SandboxRecord } from './record.ts';
import { type Snapshot, type SnapshotRows, snapshotRows } from './store/snapshots.ts';

export interface Snapshots extends Pick<SnapshotRows, 'list'> {
  /** By id, name, or an unambiguous beginning of an id. @throws SbxError `not_found` */
  get(ref: string): Snapshot;
  /** Takes one of a sandbox in whatever state it is; a failure leaves nothing. @throws SbxError `conflict` for a taken name */
  take(ref: string, options: SnapshotOptions, call: Call): Promise<Snapshot>;
  /** Its files become those of the snapshot, its processes end, and one that runs runs again. */
  restore(ref: string, snapshot: string, call: Call): Promise<SandboxRecord>;
  /** @throws SbxError `not_found`, `conflict` when something needs it. */
  remove(ref: string, call: Call): Promise<Snapshot>;
  /** Removes what a former run has not finished. */
  tidy(call: Call): Promise<void>;
}

export interface SnapshotOptions {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Characters of the beginning of an id, at the least. */
const SHORTEST_PREFIX = 4;

export function openSnapshots(base: Omit<Base, 'snapshots'>): Snapshots {
  const { db, fleet, egress, having, now, notice } = base;
  const rows = snapshotRows(db);

  const get = (ref: string): Snapshot => {
    const all = rows.list();
    const exact = all.find(({ id }) => id === ref) ?? all.find(({ name }) => name === ref);
    const starting = ref.length < SHORTEST_PREFIX ? [] : all.filter(({ id }) => id.startsWith(ref));
    const found = exact ?? (starting.length === 1 ? starting[0] : undefined);
    if (found !== undefined) return found;
    throw new SbxError('not_found', `there is no snapshot '${ref.slice(0, 100)}'`, {
      hint: 'see what there is: sbx snapshot ls',
    });
  };
  /** Takes it from its backend, if it is there, and then from the records. */
  const discard = async ({ id, driver }: Snapshot, call: Call) => {
    const { can } = await base.backend(driver);
    try {
      await can.snapshots?.remove(id, call);
    } catch (error) {
      if (!(error instanceof SbxError) || error.code !== 'not_found') throw error;
    }
    rows.remove(id);
  };
  /** Removes what was not finished; what cannot be removed now is tried again by the next server. */
  const giveUp = async (snapshot: Snapshot, call: Call) => {
    try {
      await discard(snapshot, call);
    } catch (error) {
      if (!(error instanceof SbxError) || call.signal.aborted) throw error;
      notice(`cannot remove the half-made snapshot '${snapshot.id}': ${error.message}`);
    }
  };

  return {
    list: rows.list,
    get,
    async take(ref, { name, labels = {} }, call) {
      if (name !== undefined) checkName(name, "the snapshot's name");
      for (const [key, value] of Object.entries(labels)) checkLabel(key, value);
      using look = await fleet.look(ref, call);
      const { record, sandbox } = look;
      const { create } = need(sandbox, 'snapshots', having);
      const id = `sn${randomHex(6)}`;
      const env = egress.ownEnv(record);
      const half: Snapshot = {
        id,
        ...(name === undefined ? {} : { name }),
        createdAt: now().toISOString(),
        sandbox: record.name,
        labels,
        driver: record.driver,
        image: record.image,
        workdir: record.workdir,
        env,
        withheld: withheldFrom(record.env, env),
        making: true,
      };
      if (!rows.add(half)) {
        throw new SbxError('conflict', `there is a snapshot '${name}' already`, {
          hint: `sbx snapshot rm ${name}`,
        });
      }
      let taken: SnapshotInfo;
      try {
        taken = await create({ name: id, labels: { ...labels, [OWNER_LABEL]: id } }, call);
      } catch (error) {
        await giveUp(half, unhurried);
        throw error;
      }
      const { making: _, ...whole } = half;
      const snapshot = { ...whole, ...(taken.size === undefined ? {} : { size: taken.size }) };
      rows.put(snapshot);
      return snapshot;
    },
    restore(ref, name, call) {
      const snapshot = get(name);
      return fleet.renew(
        ref,
        async ({ record, sandbox }) => {
          if (snapshot.driver !== record.driver) {
            throw new SbxError(
              'conflict',
              `snapshot '${name}' is on '${snapshot.driver}', and sandbox '${record.name}' on '${record.driver}'`,
              { hint: `make a sandbox from it: sbx create --from ${name}` },
            );
          }
          await need(sandbox, 'snapshots', having).restore(snapshot.id, call);
        },
        call,
      );
    },
    async remove(ref, call) {
      const snapshot = get(ref);
      await discard(snapshot, call);
      return snapshot;
    },
    async tidy(call) {
      for (const half of rows.unfinished()) await giveUp(half, call);
    },
  };
}
