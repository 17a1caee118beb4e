import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Stats } from '../../../src/lib/backend/contract.ts';
import { SbxError } from '../../../src/lib/errors.ts';
import { costOf } from '../../../src/lib/server/cost.ts';
import { listeners } from '../../../src/lib/server/daemon.ts';
import type { Fleet, Use } from '../../../src/lib/server/fleet.ts';
import { openMeter, ROUND_MS, SAMPLES_KEPT } from '../../../src/lib/server/meter.ts';
import { noUsage, type SandboxRecord } from '../../../src/lib/server/record.ts';
import { openDatabase } from '../../../src/lib/server/store/database.ts';
import { sandboxRows } from '../../../src/lib/server/store/sandboxes.ts';

const call = { signal: new AbortController().signal };
const GB = 1e9;
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A server's part with one sandbox whose use is `stats`, at a moment that the test says. */
function place() {
  const folder = mkdtempSync(join(tmpdir(), 'sbx-meter-'));
  folders.push(folder);
  const state = { time: 0, stats: {} as Partial<Stats>, asked: 0, fails: false };
  const open = () => {
    const db = openDatabase(folder);
    const rows = sandboxRows(db);
    const onFresh = listeners();
    const onGone = listeners();
    const use = (record: SandboxRecord): Use =>
      ({
        record,
        sandbox: {
          can: {
            stats: async () => {
              state.asked++;
              if (state.fails) throw new SbxError('conflict', 'it does not run');
              return { time: '', ...state.stats };
            },
          },
        },
        [Symbol.dispose]: () => undefined,
      }) as unknown as Use;
    const fleet = { look: async (id: string) => use(rows.find(id) as SandboxRecord) } as unknown as Fleet;
    const now = () => new Date(state.time);
    return { db, rows, onFresh, onGone, meter: openMeter({ db, rows, fleet, now, onFresh, onGone }) };
  };
  const first = open();
  first.rows.reserve({ id: 'one', name: 'one', driver: 'fake' });
  first.rows.put({
    id: 'one',
    name: 'one',
    status: 'running',
    createdAt: new Date(0).toISOString(),
    usage: noUsage,
  } as SandboxRecord);
  return { ...first, state, open };
}

test('use is the sum of what comes between two looks', async () => {
  const { rows, meter, state, db } = place();
  Object.assign(state, { time: 10_000, stats: { cpuMs: 2000, memory: 2 * GB, processes: 3 } });
  expect(await meter.look('one', call)).toEqual({
    cpuPercent: 20,
    memBytes: 2 * GB,
    memLimitBytes: 0,
    pids: 3,
    netRxBytes: 0,
    netTxBytes: 0,
  });
  expect(rows.find('one')?.usage).toEqual({ cpuSeconds: 2, memGbSeconds: 10, egressBytes: 0 });
  Object.assign(state, { time: 12_000, stats: { cpuMs: 5000, memory: 4 * GB } });
  expect((await meter.look('one', call))?.cpuPercent).toBe(150);
  expect(rows.find('one')?.usage).toEqual({ cpuSeconds: 5, memGbSeconds: 16, egressBytes: 0 });
  db.close();
});

test('a server that starts anew goes on where the other was killed', async () => {
  const { meter, state, open, db } = place();
  Object.assign(state, { time: 10_000, stats: { cpuMs: 2000 } });
  await meter.look('one', call);
  db.close();
  const second = open();
  Object.assign(state, { time: 20_000, stats: { cpuMs: 2500 } });
  await second.meter.look('one', call);
  expect(second.rows.find('one')?.usage.cpuSeconds).toBe(2.5);
  second.db.close();
});

test('after a stop counters begin anew, and a counter that falls takes nothing back', async () => {
  const { rows, meter, state, onFresh, db } = place();
  Object.assign(state, { time: 10_000, stats: { cpuMs: 2000, memory: GB } });
  await meter.look('one', call);
  state.time = 1_000_000;
  onFresh.call('one');
  Object.assign(state, { time: 1_010_000, stats: { cpuMs: 500, memory: GB } });
  await meter.look('one', call);
  expect(rows.find('one')?.usage).toMatchObject({ cpuSeconds: 2.5, memGbSeconds: 10 });
  Object.assign(state, { time: 1_010_000, stats: { cpuMs: 400, memory: GB } });
  expect((await meter.look('one', call))?.cpuPercent).toBe(0);
  expect(rows.find('one')?.usage.cpuSeconds).toBe(2.5);
  db.close();
});

test('samples are taken of what runs, not of what was just made, and no more are kept than say so', async () => {
  const { rows, meter, state, onGone, db } = place();
  state.time = ROUND_MS - 1;
  await meter.round(call);
  expect([state.asked, meter.samples('one')]).toEqual([0, []]);
  for (let round = 1; round <= SAMPLES_KEPT + 2; round++) {
    Object.assign(state, { time: round * ROUND_MS, stats: { cpuMs: round, memory: round } });
    await meter.round(call);
  }
  const samples = meter.samples('one');
  expect(samples).toHaveLength(SAMPLES_KEPT);
  expect(samples[0]).toMatchObject({ time: new Date(3 * ROUND_MS).toISOString(), memBytes: 3 });
  const { asked } = state;
  rows.change('one', { status: 'paused' });
  await meter.round(call);
  expect(state.asked).toBe(asked);
  onGone.call('one');
  expect(meter.samples('one')).toEqual([]);
  db.close();
});

test('one that cannot tell is passed over, and nothing is counted', async () => {
  const { rows, meter, state, db } = place();
  Object.assign(state, { time: 10_000, fails: true });
  expect(await meter.look('one', call)).toBeUndefined();
  await meter.round(call);
  expect([meter.samples('one'), rows.find('one')?.usage]).toEqual([[], noUsage]);
  db.close();
});

test('cost is use at the rates', () => {
  const usage = { cpuSeconds: 7200, memGbSeconds: 3600, egressBytes: 2e9 };
  expect(costOf(usage, { cpuPerHour: 0.5, memGbPerHour: 0.25, egressPerGb: 2 })).toEqual({
    cpu: 1,
    mem: 0.25,
    egress: 4,
    total: 5.25,
  });
});
