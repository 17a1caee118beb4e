import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { SbxError } from '../../../src/lib/errors.ts';
import { type Fleet, type FleetOptions, OWNER_LABEL, openFleet } from '../../../src/lib/server/fleet.ts';
import { noUsage, type SandboxRecord } from '../../../src/lib/server/record.ts';
import { type Database, openDatabase } from '../../../src/lib/server/store/database.ts';
import { sandboxRows } from '../../../src/lib/server/store/sandboxes.ts';
import { type FakeBoxes, fakeBoxes } from './fake-box.ts';

const call = { signal: new AbortController().signal };
const opened: { db: Database; folder: string }[] = [];
afterEach(() => {
  for (const { db, folder } of opened.splice(0)) {
    db.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

interface Place {
  readonly fleet: Fleet;
  readonly fake: FakeBoxes;
  readonly rows: ReturnType<typeof sandboxRows>;
  readonly events: string[];
  /** Makes the clock show so many milliseconds. */
  at(ms: number): void;
  add(id: string, fields?: Partial<SandboxRecord>): void;
}

function place(
  fake = fakeBoxes(),
  more: Partial<Pick<FleetOptions, 'admit' | 'remake' | 'onAwake'>> = {},
): Place {
  const folder = mkdtempSync(join(tmpdir(), 'sbx-fleet-'));
  const db = openDatabase(folder);
  opened.push({ db, folder });
  const rows = sandboxRows(db);
  const events: string[] = [];
  let time = 0;
  const fleet = openFleet({
    rows,
    backend: async () => fake.backend,
    now: () => new Date(time),
    onFresh: (id) => void events.push(`fresh ${id}`),
    onGone: (id) => void events.push(`gone ${id}`),
    onRuns: async () => undefined,
    onAwake: async (id) => void events.push(`awake ${id}`),
    admit: () => ({ [Symbol.dispose]: () => undefined }),
    remake: () => Promise.reject(new Error('nobody is made anew')),
    notice: (line) => void events.push(line),
    ...more,
  });
  return {
    fleet,
    fake,
    rows,
    events,
    at(ms) {
      time = ms;
    },
    add(id, fields = {}) {
      const status = fields.status ?? 'running';
      rows.reserve({ id, name: id, driver: 'fake' });
      rows.put({
        id,
        name: id,
        image: 'host',
        createdAt: new Date(0).toISOString(),
        driver: 'fake',
        labels: {},
        env: {},
        persist: true,
        lastActivityAt: new Date(0).toISOString(),
        sleepAfterMs: 0,
        limits: {},
        egressSpendCapUsd: 0,
        usage: noUsage,
        workdir: '/workspace',
        ...fields,
        status,
      });
      if (status !== 'vanished')
        fake.boxes.set(id, { name: id, state: status, labels: { [OWNER_LABEL]: id } });
    },
  };
}

describe('use', () => {
  test('wakes a paused one, is told when it is awake, and counts as activity at its end', async () => {
    const { fleet, fake, rows, events, at, add } = place();
    add('one', { status: 'paused' });
    at(5000);
    {
      using use = await fleet.use('one', call);
      expect([use.sandbox.name, use.record.status]).toEqual(['one', 'running']);
      at(9000);
    }
    expect(fake.done).toEqual(['resume one']);
    expect(events).toEqual(['awake one']);
    expect(rows.find('one')).toMatchObject({
      status: 'running',
      lastActivityAt: new Date(9000).toISOString(),
    });
  });

  test('starts one that was paused by a stop, whose processes are new', async () => {
    const { fleet, fake, events, add } = place(fakeBoxes({ suspend: false }));
    add('one');
    expect((await fleet.pause('one', call)).status).toBe('paused');
    using _ = await fleet.use('one', call);
    expect(fake.done).toEqual(['stop one', 'start one']);
    expect(events).toEqual(['fresh one', 'fresh one', 'awake one']);
  });

  test('many wake it once', async () => {
    const { fleet, fake, add } = place();
    add('one', { status: 'paused' });
    const uses = await Promise.all([1, 2, 3].map(() => fleet.use('one', call)));
    expect(fake.done).toEqual(['resume one']);
    for (const use of uses) use[Symbol.dispose]();
  });

  test('is refused for one that is stopped, and one that there is not', async () => {
    const { fleet, fake, add } = place();
    add('one', { status: 'stopped' });
    await expect(fleet.use('one', call)).rejects.toMatchObject({ status: 409 });
    await expect(fleet.use('two', call)).rejects.toMatchObject({ status: 404 });
    expect(fake.done).toEqual([]);
  });

  test('finds out that one has vanished, and says so from then on', async () => {
    const { fleet, fake, rows, add } = place();
    add('one');
    fake.boxes.clear();
    for (const _ of [1, 2])
      await expect(fleet.use('one', call)).rejects.toMatchObject({
        status: 409,
        message: 'sandbox has vanished from its backend; delete it',
      });
    expect(rows.find('one')?.status).toBe('vanished');
    await fleet.destroy('one', call);
    expect(rows.find('one')).toBeUndefined();
  });
});

test('a look wakes nobody and is no activity, but keeps it from falling asleep', async () => {
  const { fleet, fake, rows, at, add } = place();
  add('one', { sleepAfterMs: 10 });
  add('two', { status: 'paused' });
  at(1000);
  {
    using _ = await fleet.look('one', call);
    using other = await fleet.look('two', call);
    expect(other.record.status).toBe('paused');
    expect(await fleet.sleepIdle(call)).toEqual([]);
  }
  expect(rows.find('one')?.lastActivityAt).toBe(new Date(0).toISOString());
  expect(await fleet.sleepIdle(call)).toEqual(['one']);
  expect(fake.done).toEqual(['pause one']);
});

describe('sleepIdle', () => {
  test('pauses those alone that nobody uses for as long as they ask for', async () => {
    const { fleet, fake, rows, at, add } = place();
    add('idle', { sleepAfterMs: 1000 });
    add('later', { sleepAfterMs: 1001 });
    add('never');
    add('stopped', { sleepAfterMs: 1000, status: 'stopped' });
    at(1000);
    expect(await fleet.sleepIdle(call)).toEqual(['idle']);
    expect(fake.done).toEqual(['pause idle']);
    expect(rows.find('idle')?.status).toBe('paused');
    expect(await fleet.sleepIdle(call)).toEqual([]);
  });

  test('never pauses what is in use, however long', async () => {
    const { fleet, fake, at, add } = place();
    add('one', { sleepAfterMs: 10 });
    const first = await fleet.use('one', call);
    const second = await fleet.use('one', call);
    at(1_000_000);
    expect(await fleet.sleepIdle(call)).toEqual([]);
    first[Symbol.dispose]();
    at(2_000_000);
    expect(await fleet.sleepIdle(call)).toEqual([]);
    second[Symbol.dispose]();
    expect(await fleet.sleepIdle(call)).toEqual([]);
    at(3_000_000);
    expect(await fleet.sleepIdle(call)).toEqual(['one']);
    expect(fake.done).toEqual(['pause one']);
  });

  test('a use that comes while it is being paused wakes it', async () => {
    const { fleet, fake, at, add } = place();
    add('one', { sleepAfterMs: 10 });
    at(1000);
    const pausing = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    fake.before = async (what) => {
      if (what !== 'pause one') return;
      pausing.resolve();
      await go.promise;
    };
    const asleep = fleet.sleepIdle(call);
    await pausing.promise;
    const use = fleet.use('one', call);
    go.resolve();
    expect(await asleep).toEqual(['one']);
    expect((await use).record.status).toBe('running');
    expect(fake.done).toEqual(['pause one', 'resume one']);
  });
});

describe('stop and start', () => {
  test('are told of, and a start asks whether there is room', async () => {
    const asked: string[] = [];
    const { fleet, events, add } = place(fakeBoxes(), {
      admit: ({ id }) => {
        asked.push(id);
        return { [Symbol.dispose]: () => void asked.push('let go') };
      },
    });
    add('one');
    expect((await fleet.stop('one', call)).status).toBe('stopped');
    expect((await fleet.stop('one', call)).status).toBe('stopped');
    expect((await fleet.start('one', call)).status).toBe('running');
    expect(events).toEqual(['fresh one', 'fresh one', 'awake one']);
    expect(asked).toEqual(['one', 'let go']);
  });

  test('one without room stays stopped', async () => {
    const { fleet, fake, rows, add } = place(fakeBoxes(), {
      admit: () => {
        throw new Error('no room');
      },
    });
    add('one', { status: 'stopped' });
    await expect(fleet.start('one', call)).rejects.toThrow('no room');
    expect([fake.done, rows.find('one')?.status]).toEqual([[], 'stopped']);
  });

  test('one whose files do not outlive a stop is made anew by a start, also where its old one is gone', async () => {
    const fake = fakeBoxes();
    const { fleet, rows, events, add } = place(fake, {
      async remake({ id }) {
        fake.done.push(`remake ${id}`);
        fake.boxes.set(id, { name: id, state: 'running', labels: {} });
        return fake.backend.get(id, call);
      },
    });
    add('one', { persist: false });
    await fleet.pause('one', call);
    await fleet.start('one', call);
    expect(fake.done).toEqual(['pause one', 'resume one']);
    await fleet.stop('one', call);
    fake.boxes.clear();
    await fleet.findAgain(call);
    expect(rows.find('one')?.status).toBe('stopped');
    await expect(fleet.look('one', call)).rejects.toMatchObject({ status: 409 });
    expect((await fleet.start('one', call)).status).toBe('running');
    expect(fake.done.slice(2)).toEqual(['stop one', 'remake one']);
    expect(events).toEqual(['awake one', 'fresh one', 'fresh one']);
  });
});

describe('after a former run', () => {
  test('records are brought in line with what is there', async () => {
    const { fleet, fake, rows, events, add } = place();
    for (const id of ['running', 'paused', 'ended', 'restarted', 'cold', 'gone']) add(id);
    const state = (id: string, to: 'running' | 'paused' | 'stopped') => {
      const box = fake.boxes.get(id);
      if (box !== undefined) box.state = to;
    };
    state('paused', 'paused');
    state('ended', 'stopped');
    rows.change('restarted', { status: 'stopped' });
    rows.change('cold', { status: 'paused' });
    state('cold', 'stopped');
    fake.boxes.delete('gone');
    await fleet.findAgain(call);
    const statuses = Object.fromEntries(rows.list().map(({ id, status }) => [id, status]));
    expect(statuses).toEqual({
      running: 'running',
      paused: 'paused',
      ended: 'stopped',
      restarted: 'running',
      cold: 'paused',
      gone: 'vanished',
    });
    expect(events).toEqual(['awake running', 'awake restarted']);
    expect(fake.done).toEqual([]);
  });

  test('what was half made is removed, and what only has its name is not', async () => {
    const { fleet, fake, rows } = place();
    for (const id of ['half', 'foreign', 'never-begun']) rows.reserve({ id, name: id, driver: 'fake' });
    fake.boxes.set('half', { name: 'half', state: 'running', labels: { [OWNER_LABEL]: 'half' } });
    fake.boxes.set('foreign', { name: 'foreign', state: 'running', labels: {} });
    await fleet.findAgain(call);
    expect(fake.done).toEqual(['destroy half']);
    expect([...fake.boxes.keys()]).toEqual(['foreign']);
    expect(rows.reserved()).toEqual([]);
  });

  test('a rename that was cut off has the name that its backend has', async () => {
    const { fleet, fake, rows, add } = place();
    const held = (id: string) => ({ id: `rn-${id}`, name: `new-${id}`, driver: 'fake', renames: id });
    for (const id of ['done', 'not']) {
      add(id);
      rows.reserve(held(id));
    }
    const box = fake.boxes.get('done');
    if (box === undefined) throw new Error('no box');
    fake.boxes.delete('done');
    fake.boxes.set('new-done', { ...box, name: 'new-done' });
    await fleet.findAgain(call);
    expect(rows.list().map(({ name, status }) => [name, status])).toEqual([
      ['new-done', 'running'],
      ['not', 'running'],
    ]);
    expect(rows.reserved()).toEqual([]);
    expect(fake.done).toEqual([]);
  });

  test('a backend that does not answer is told of, and changes nothing', async () => {
    const { fleet, fake, rows, events, add } = place();
    add('one');
    fake.backend.get = () => Promise.reject(new SbxError('unreachable', 'no engine'));
    await fleet.findAgain(call);
    expect(events).toEqual(["cannot find sandbox 'one' again: no engine"]);
    expect(rows.find('one')?.status).toBe('running');
  });
});

describe('change', () => {
  test('a look meanwhile waits for the new name instead of taking it for vanished', async () => {
    const { fleet, fake, rows, add } = place();
    add('one');
    const go = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const moved = fleet.change(
      'one',
      async () => {
        const box = fake.boxes.get('one');
        if (box === undefined) throw new Error('no box');
        fake.boxes.delete('one');
        fake.boxes.set('two', { ...box, name: 'two' });
        begun.resolve();
        await go.promise;
        rows.change('one', { name: 'two' });
      },
      call,
    );
    await begun.promise;
    const looked = fleet.look('one', call);
    go.resolve();
    await moved;
    using look = await looked;
    expect([look.record.name, look.sandbox.name]).toEqual(['two', 'two']);
    expect(rows.find('one')?.status).toBe('running');
  });

  test('what ends the processes of one makes it fresh, and awake if it runs', async () => {
    const { fleet, fake, events, add } = place();
    add('one');
    add('two', { status: 'stopped' });
    for (const id of ['one', 'two']) await fleet.renew(id, async () => void events.push(`act ${id}`), call);
    expect(events).toEqual(['act one', 'fresh one', 'awake one', 'act two', 'fresh two']);
    expect(fleet.list().map(({ status }) => status)).toEqual(['running', 'stopped']);
    expect(fake.done).toEqual([]);
  });
});

test('those whose time is up are removed, and one that cannot be is tried again', async () => {
  const { fleet, fake, events, at, add } = place();
  for (const id of ['one', 'two', 'never']) add(id);
  fleet.extend('one', 5000);
  fleet.extend('two', 5000);
  fleet.extend('never', 5000);
  expect(fleet.extend('never', undefined).expiresAt).toBeUndefined();
  at(4999);
  await fleet.removeExpired(call);
  expect(fake.done).toEqual([]);
  at(5000);
  fake.before = async (what) => {
    if (what === 'destroy one') throw new SbxError('unreachable', 'no engine');
  };
  await fleet.removeExpired(call);
  expect(events).toEqual(["cannot remove sandbox 'one', whose time is up: no engine", 'gone two']);
  fake.before = async () => undefined;
  await fleet.removeExpired(call);
  expect(fleet.list().map(({ id }) => id)).toEqual(['never']);
});

test('settled resolves when nothing changes any more', async () => {
  const { fleet, fake, add } = place();
  add('one');
  const go = Promise.withResolvers<void>();
  fake.before = () => go.promise;
  const stopping = fleet.stop('one', call);
  const events: string[] = [];
  const settled = fleet.settled().then(() => events.push('settled'));
  void stopping.then(() => events.push('stopped'));
  go.resolve();
  await settled;
  expect(events).toEqual(['stopped', 'settled']);
});
