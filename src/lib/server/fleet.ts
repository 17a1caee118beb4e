/**
 * The sandboxes of a server: its records, and the backends that have what they stand for. Whatever changes the state of
 * one does so in turn; using one counts, so that nothing in use falls asleep.
 */
import type { Backend, Call, Sandbox, SandboxState } from '../backend/contract.ts';
import { SbxError } from '../errors.ts';
import { HttpRefusal } from './http/refusal.ts';
import { keyedLock } from './keyed-lock.ts';
import type { RecordStatus, SandboxRecord } from './record.ts';
import type { HeldName, Reserved, SandboxRows } from './store/sandboxes.ts';

/** A sandbox that runs, for as long as this is held. */
export interface Use extends Disposable {
  readonly record: SandboxRecord;
  readonly sandbox: Sandbox;
  /** Says that it is used at this moment. */
  touch(): void;
}

/** A look at a sandbox in whatever state it is. */
export type Look = Omit<Use, 'touch'>;

export interface FleetOptions {
  readonly rows: SandboxRows;
  readonly backend: (driver: string) => Promise<Backend>;
  readonly now: () => Date;
  /** Called after a sandbox was stopped or has started anew: what ran in it is gone. */
  readonly onFresh: (id: string) => void;
  /** Called with a sandbox that runs, before it is used. Never rejects for a failure of the sandbox. */
  readonly onRuns: (record: SandboxRecord, sandbox: Sandbox) => Promise<void>;
  /** Called after a sandbox was removed. */
  readonly onGone: (id: string) => void;
  /** Called when a sandbox runs again that did not, and when one is found running, before anybody uses it. */
  readonly onAwake: (id: string, sandbox: Sandbox, call: Call) => Promise<void>;
  /** Sets aside what a stopped sandbox needs to run, until the result is disposed of. Throws when that is not to be had. */
  readonly admit: (record: SandboxRecord) => Disposable;
  /** Makes the sandbox of a record anew, in the place of what is there. */
  readonly remake: (record: SandboxRecord, call: Call) => Promise<Sandbox>;
  /** A line for the operator. */
  readonly notice: (line: string) => void;
}

export interface Fleet {
  list(): SandboxRecord[];
  /** By id or name. @throws HttpRefusal 404 */
  get(ref: string): SandboxRecord;
  /** Wakes a paused one. @throws HttpRefusal 404, 409 for one that is stopped or has vanished */
  use(ref: string, call: Call): Promise<Use>;
  /** Like {@link use}, in whatever state it is: nothing is woken, and it counts as no activity. */
  look(ref: string, call: Call): Promise<Look>;
  /** Uses of a half-made sandbox get this handle, until it is disposed: its backend gives out no other. */
  lend(id: string, half: Sandbox): Disposable;
  start(ref: string, call: Call): Promise<SandboxRecord>;
  stop(ref: string, call: Call): Promise<SandboxRecord>;
  pause(ref: string, call: Call): Promise<SandboxRecord>;
  destroy(ref: string, call: Call): Promise<SandboxRecord>;
  /** Does something to one in its turn, in whatever state it is. */
  change<T>(ref: string, act: (look: Omit<Look, keyof Disposable>) => Promise<T>, call: Call): Promise<T>;
  /** Like {@link change}, for what ends its processes; the record says how it is afterwards. */
  renew(
    ref: string,
    act: (look: Omit<Look, keyof Disposable>) => Promise<void>,
    call: Call,
  ): Promise<SandboxRecord>;
  /** Gives a sandbox the new name if its backend has done so; else the name is free again. */
  settleName(held: HeldName, call: Call): Promise<void>;
  /** Removes what was half made, and its row; what cannot be removed now is left to the next server. */
  discard(half: Reserved, call: Call): Promise<void>;
  /** Sets its time of expiry to `ms` from now; undefined: it has none. @throws HttpRefusal 404 */
  extend(ref: string, ms: number | undefined): SandboxRecord;
  /** Removes those whose time is up. */
  removeExpired(call: Call): Promise<void>;
  /** Pauses what nobody has used for longer than it asks for. @returns the ids. */
  sleepIdle(call: Call): Promise<string[]>;
  /** Brings the records of a former run in line with what is there; removes what was half made. */
  findAgain(call: Call): Promise<void>;
  /** Resolves when nothing changes any sandbox any more. */
  settled(): Promise<void>;
}

/** The label on everything that a server makes; its value is the id. */
export const OWNER_LABEL = 'sbx-serve';
const STOP_GRACE_MS = 10_000;

export function openFleet(options: FleetOptions): Fleet {
  const { rows, now, onFresh, onRuns, onGone, onAwake, admit, remake, notice } = options;
  const lock = keyedLock();
  /** How many use a sandbox at this moment. */
  const uses = new Map<string, number>();
  const halves = new Map<string, Sandbox>();

  const get = (ref: string): SandboxRecord => {
    const record = rows.find(ref);
    if (record === undefined) throw new HttpRefusal(404, 'not found');
    return record;
  };
  const set = (id: string, fields: Partial<SandboxRecord>): SandboxRecord => {
    const changed = rows.change(id, fields);
    if (changed === undefined) throw new HttpRefusal(404, 'not found');
    return changed;
  };
  const touch = (id: string) => void rows.change(id, { lastActivityAt: now().toISOString() });
  const known = async ({ id, name, driver }: SandboxRecord, call: Call): Promise<Sandbox | undefined> =>
    halves.get(id) ?? present(await options.backend(driver), name, call);
  /** The sandbox of a record, in its turn; one that its backend does not know has vanished. */
  const find = async (record: SandboxRecord, call: Call): Promise<Sandbox> => {
    const sandbox = await known(record, call);
    if (sandbox !== undefined) return sandbox;
    if (isToBeRemade(record)) throw stopped();
    rows.change(record.id, { status: 'vanished' });
    throw vanished();
  };
  /** Makes one run that does not, and says whether its processes are new. */
  const wake = async (sandbox: Sandbox, state: SandboxState, call: Call): Promise<boolean> => {
    if (state === 'paused') {
      await sandbox.can.suspend?.resume(call);
      return false;
    }
    if (state !== 'running') await sandbox.can.power?.start(call);
    return state !== 'running';
  };
  const run = async (record: SandboxRecord, call: Call) => {
    const isNew = isToBeRemade(record);
    const sandbox = await (isNew ? remake(record, call) : find(record, call));
    const { state } = await sandbox.info(call);
    if ((await wake(sandbox, state, call)) || isNew) onFresh(record.id);
    if (state !== 'running') await onAwake(record.id, sandbox, call);
    await onRuns(record, sandbox);
    return { sandbox, record: set(record.id, { status: 'running', lastActivityAt: now().toISOString() }) };
  };
  const halt = async (record: SandboxRecord, call: Call) => {
    const sandbox = await find(record, call);
    await sandbox.can.power?.stop({ graceMs: STOP_GRACE_MS }, call);
    onFresh(record.id);
  };
  const doze = async (record: SandboxRecord, call: Call): Promise<SandboxRecord> => {
    const sandbox = await find(record, call);
    if (sandbox.can.suspend === undefined) await halt(record, call);
    else await sandbox.can.suspend.pause(call);
    return set(record.id, { status: 'paused' });
  };

  /** Meets one that was found to run. */
  const meet = async (record: SandboxRecord, sandbox: Sandbox, call: Call) => {
    await onAwake(record.id, sandbox, call);
    await onRuns(record, sandbox);
  };
  const attempt = async (what: string, call: Call, act: () => Promise<void>) => {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof SbxError) || call.signal.aborted) throw error;
      notice(`cannot ${what}: ${error.message}`);
    }
  };
  const settleName = async (held: HeldName, call: Call) => {
    const backend = await options.backend(held.driver);
    if ((await labelled(backend, held.renames, held.name, call)) === undefined) rows.remove(held.id);
    else rows.rename(held);
  };
  const discard = (half: Reserved, call: Call) =>
    attempt(`remove the half-made sandbox '${half.name}'`, call, async () => {
      const { id, name, driver } = half;
      const backend = await options.backend(driver);
      const left = await labelled(backend, id, name, call);
      if (left !== undefined) await backend.destroy(left.id, { force: true }, call);
      rows.remove(id);
    });
  const destroy = async ({ id, name, driver }: SandboxRecord, call: Call) => {
    const backend = await options.backend(driver);
    await backend.destroy(name, { force: true }, call);
    rows.remove(id);
    onGone(id);
  };

  /** Counts as a use from before it is made until it is let go. */
  const held = async (
    ref: string,
    make: (id: string) => Promise<Omit<Look, keyof Disposable>>,
  ): Promise<Look> => {
    const { id } = get(ref);
    uses.set(id, (uses.get(id) ?? 0) + 1);
    const release = () => {
      const left = (uses.get(id) ?? 1) - 1;
      if (left > 0) uses.set(id, left);
      else uses.delete(id);
    };
    try {
      return { ...(await make(id)), [Symbol.dispose]: release };
    } catch (error) {
      release();
      throw error;
    }
  };

  return {
    list: () => rows.list(),
    get,
    async use(ref, call) {
      const look = await held(ref, (id) =>
        lock.run(id, async () => {
          const record = get(id);
          if (record.status === 'stopped') throw stopped();
          if (record.status === 'vanished') throw vanished();
          const half = halves.get(id);
          return half === undefined ? run(record, call) : { record, sandbox: half };
        }),
      );
      const use: Use = {
        ...look,
        touch: () => touch(look.record.id),
        [Symbol.dispose]() {
          use.touch();
          look[Symbol.dispose]();
        },
      };
      return use;
    },
    look: (ref, call) =>
      held(ref, async (id) => {
        const record = get(id);
        const sandbox = await known(record, call);
        if (sandbox !== undefined) return { record, sandbox };
        // It may just be getting another name, or be made anew.
        return lock.run(id, async () => {
          const now = get(id);
          return { record: now, sandbox: await find(now, call) };
        });
      }),
    lend(id, half) {
      halves.set(id, half);
      return { [Symbol.dispose]: () => void halves.delete(id) };
    },
    start: (ref, call) => {
      const { id } = get(ref);
      return lock.run(id, async () => {
        const record = get(id);
        using _ = admit(record);
        return (await run(record, call)).record;
      });
    },
    stop: (ref, call) => {
      const { id } = get(ref);
      return lock.run(id, async () => {
        const record = get(id);
        if (record.status === 'stopped') return record;
        await halt(record, call);
        return set(id, { status: 'stopped' });
      });
    },
    pause: (ref, call) => {
      const { id } = get(ref);
      return lock.run(id, async () => {
        const record = get(id);
        if (record.status === 'paused') return record;
        if (record.status === 'stopped') throw stopped();
        return doze(record, call);
      });
    },
    destroy: (ref, call) => {
      const { id } = get(ref);
      return lock.run(id, async () => {
        const record = get(id);
        await destroy(record, call);
        return record;
      });
    },
    change: (ref, act, call) => {
      const { id } = get(ref);
      return lock.run(id, async () => {
        const record = get(id);
        return act({ record, sandbox: await find(record, call) });
      });
    },
    renew: (ref, act, call) => {
      const { id } = get(ref);
      return lock.run(id, async () => {
        const record = get(id);
        const sandbox = await find(record, call);
        await act({ record, sandbox });
        onFresh(id);
        const status = await statusOf(sandbox, record, call);
        if (status === 'running') await meet(record, sandbox, call);
        return set(id, { status });
      });
    },
    settleName,
    discard,
    extend: (ref, ms) =>
      set(get(ref).id, {
        expiresAt: ms === undefined ? undefined : new Date(now().getTime() + ms).toISOString(),
      }),
    async removeExpired(call) {
      const isOver = ({ expiresAt }: SandboxRecord) =>
        expiresAt !== undefined && Date.parse(expiresAt) <= now().getTime();
      for (const { id, name } of rows.list().filter(isOver)) {
        await attempt(`remove sandbox '${name}', whose time is up`, call, () =>
          lock.run(id, async () => {
            const record = rows.find(id);
            if (record !== undefined && isOver(record)) await destroy(record, call);
          }),
        );
      }
    },
    async sleepIdle(call) {
      const isIdle = ({ id, status, sleepAfterMs, lastActivityAt }: SandboxRecord) =>
        status === 'running' &&
        sleepAfterMs > 0 &&
        !uses.has(id) &&
        now().getTime() - Date.parse(lastActivityAt) >= sleepAfterMs;
      const asleep: string[] = [];
      for (const { id } of rows.list().filter(isIdle)) {
        await lock.run(id, async () => {
          const record = rows.find(id);
          if (record === undefined || !isIdle(record)) return;
          await doze(record, call);
          asleep.push(id);
        });
      }
      return asleep;
    },
    async findAgain(call) {
      for (const row of rows.reserved()) {
        const { renames } = row;
        if (renames === undefined) await discard(row, call);
        else
          await attempt(`tell the name of '${row.name}'`, call, () => settleName({ ...row, renames }, call));
      }
      for (const record of rows.list()) {
        await attempt(`find sandbox '${record.name}' again`, call, async () => {
          const sandbox = await present(await options.backend(record.driver), record.name, call);
          const status = await statusOf(sandbox, record, call);
          if (status !== record.status) rows.change(record.id, { status });
          if (sandbox !== undefined && status === 'running') await meet(record, sandbox, call);
        });
      }
    },
    settled: () => lock.idle(),
  };
}

/** Whether its files have not outlived its stop: a start makes it anew. */
function isToBeRemade({ status, persist }: SandboxRecord): boolean {
  return status === 'stopped' && !persist;
}

function stopped(): HttpRefusal {
  return new HttpRefusal(409, 'sandbox is stopped; start it first');
}

function vanished(): HttpRefusal {
  return new HttpRefusal(409, 'sandbox has vanished from its backend; delete it');
}

/** The sandbox of this name if it is the one that the server made, or was making. */
export async function labelled(
  backend: Backend,
  id: string,
  name: string,
  call: Call,
): Promise<Sandbox | undefined> {
  const sandbox = await present(backend, name, call);
  if (sandbox === undefined) return undefined;
  return (await sandbox.info(call)).labels[OWNER_LABEL] === id ? sandbox : undefined;
}

async function present(backend: Backend, name: string, call: Call): Promise<Sandbox | undefined> {
  try {
    return await backend.get(name, call);
  } catch (error) {
    if (error instanceof SbxError && error.code === 'not_found') return undefined;
    throw error;
  }
}

/** What a record's status is by now. A paused one whose processes are gone is woken by a start. */
async function statusOf(
  sandbox: Sandbox | undefined,
  record: SandboxRecord,
  call: Call,
): Promise<RecordStatus> {
  if (sandbox === undefined) return isToBeRemade(record) ? 'stopped' : 'vanished';
  const { state } = await sandbox.info(call);
  if (state === 'running' || state === 'paused') return state;
  return record.status === 'paused' ? 'paused' : 'stopped';
}
