/** Snapshots, copies and names of sandboxes of the local backend, as records of a server. */
import { afterAll, describe, expect } from 'vitest';
import { openLocalBackend } from '../../../src/lib/backends/local/index.ts';
import { openDatabase } from '../../../src/lib/server/store/database.ts';
import { type Snapshot, snapshotRows } from '../../../src/lib/server/store/snapshots.ts';
import { call } from '../../conformance/harness.ts';
import { servedApi, test, unavailable } from './served-api.ts';

const { api, folder, restart } = servedApi({ memoryBudgetMb: 1000, defaultMemoryMb: 64 });

interface Sandbox {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly env: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly limits: object;
  readonly workdir: string;
  readonly snapshot?: string;
  readonly expiresAt?: string;
}

const make = (body: object = {}) => api.answer<Sandbox>(201, 'POST /sandboxes', body);
const remove = (id: string) => api.answer(200, `DELETE /sandboxes/${id}`);
const take = (id: string, body: object = {}) =>
  api.answer<Snapshot>(201, `POST /sandboxes/${id}/snapshots`, body);
const listed = async () => {
  const { snapshots } = await api.answer<{ snapshots: Snapshot[] }>(200, 'GET /snapshots');
  return snapshots.map(({ id }) => id);
};
/** The backend below the server. */
const local = () => openLocalBackend({ name: 'local', notice: () => undefined, paths: { state: folder() } });
const below = async () => {
  const found: { id: string; name?: string | undefined }[] = [];
  for await (const info of local().can.snapshots?.list(call) ?? []) found.push(info);
  return found.map(({ name = '' }) => name);
};

afterAll(async () => {
  if (unavailable !== undefined) return;
  for (const id of await listed()) await api.answer(200, `DELETE /snapshots/${id}`);
});

describe('a snapshot', () => {
  test('outlives its sandbox and the server, and is what others are made from', async () => {
    const { id } = await make({ name: 'first', env: { A: '1' }, workdir: '/srv' });
    await api.say(id, 'echo kept > /srv/file');
    const taken = await take(id, { name: 'good', labels: { k: 'v' } });
    expect(taken).toMatchObject({ name: 'good', sandbox: 'first', labels: { k: 'v' }, driver: 'local' });
    await remove(id);
    await restart();
    expect(await api.answer(200, 'GET /snapshots/good')).toEqual(taken);
    expect(await below()).toEqual([taken.id]);
    const copy = await make({ snapshot: 'good', env: { B: '2' }, labels: { own: 'yes' }, memoryMb: 32 });
    expect(copy).toMatchObject({
      snapshot: taken.id,
      workdir: '/srv',
      env: { A: '1', B: '2' },
      labels: { own: 'yes' },
      limits: { memoryMb: 32 },
    });
    expect(await api.say(copy.id, 'echo $(cat /srv/file) $A $B')).toBe('kept 1 2');
    await remove(copy.id);
  });

  test('of somebody else on the same backend is not the server’s', async () => {
    const foreign = await local().create({ env: {}, labels: {}, limits: {} }, call);
    try {
      const theirs = await foreign.can.snapshots?.create({ name: 'theirs' }, call);
      expect(await listed()).not.toContain(theirs?.id);
      await api.refusal(404, 'GET /snapshots/theirs');
      await api.refusal(404, 'DELETE /snapshots/theirs');
      await api.refusal(404, 'POST /sandboxes', { snapshot: 'theirs' });
      expect(await below()).toContain('theirs');
    } finally {
      await local().can.snapshots?.remove('theirs', call);
      await local().destroy(foreign.id, { force: true }, call);
    }
  });

  test('that was half taken is gone when the server starts again', async () => {
    const { id } = await make();
    const taken = await take(id);
    await restart(() => {
      const db = openDatabase(`${folder()}/serve`);
      const rows = snapshotRows(db);
      const half = { ...taken, image: 'host', workdir: '/', env: {}, withheld: [], making: true } as const;
      rows.put(half);
      rows.add({ ...half, id: 'sn000000000000', name: 'never-begun' });
      db.close();
    });
    expect(await listed()).not.toContain(taken.id);
    expect(await below()).not.toContain(taken.id);
    await take(id, { name: 'never-begun' });
    await remove(id);
  });

  test('restored forgets what ran, and keeps id and record', async () => {
    const { id } = await make({ labels: { k: 'v' } });
    await api.say(id, 'echo old > file');
    const taken = await take(id);
    await api.say(id, 'echo new > file');
    await api.answer(201, `POST /sandboxes/${id}/expose`, { port: 8000 });
    const restored = await api.answer<Sandbox>(200, `POST /sandboxes/${id}/snapshots/restore`, {
      snapshot: taken.id,
    });
    expect(restored).toMatchObject({ id, status: 'running', labels: { k: 'v' } });
    expect(await api.answer(200, `GET /sandboxes/${id}/expose`)).toEqual({ exposed: [] });
    expect(await api.say(id, 'cat file')).toBe('old');
    await remove(id);
  });

  test('with odd names, labels and sources is refused', async () => {
    const { id } = await make();
    await api.refusal(400, `POST /sandboxes/${id}/snapshots`, { name: 'a name' });
    await api.refusal(400, `POST /sandboxes/${id}/snapshots`, { labels: { '': 'x' } });
    await api.refusal(400, `POST /sandboxes/${id}/snapshots/restore`);
    await api.refusal(404, `POST /sandboxes/${id}/snapshots/restore`, { snapshot: 'none' });
    const taken = await take(id);
    await api.refusal(400, 'POST /sandboxes', { snapshot: taken.id, image: 'debian' });
    await api.refusal(400, 'POST /sandboxes', { snapshot: taken.id, driver: 'docker' });
    await remove(id);
  });
});

describe('a copy', () => {
  test('has a record of its own with what its source was made with, and is found again', async () => {
    const source = await make({ labels: { team: 'web' }, env: { A: '1' }, cpus: 1, ttl: 3_600_000 });
    await api.say(source.id, 'echo one > file');
    const copy = await api.answer<Sandbox>(201, `POST /sandboxes/${source.id}/fork`, { name: 'copy' });
    expect(copy).toMatchObject({
      name: 'copy',
      status: 'running',
      labels: { team: 'web' },
      env: { A: '1' },
      limits: { memoryMb: 64, cpus: 1 },
    });
    expect(copy.expiresAt).toBeUndefined();
    expect(copy.id).not.toBe(source.id);
    await api.refusal(409, `POST /sandboxes/${source.id}/fork`, { name: 'copy' });
    await remove(source.id);
    await restart();
    expect(await api.say('copy', 'cat file; echo $A')).toBe('one\n1');
    await remove(copy.id);
  });

  test('needs the memory that it may take', async () => {
    const { id } = await make({ memoryMb: 900 });
    expect(await api.refusal(503, `POST /sandboxes/${id}/fork`)).toContain('not enough memory');
    const { sandboxes } = await api.answer<{ sandboxes: Sandbox[] }>(200, 'GET /sandboxes');
    expect(sandboxes.map((each) => each.id)).toEqual([id]);
    await remove(id);
  });

  test('has a token of its own in the place of its source’s, and so has one of a snapshot', async () => {
    const source = await make({ egress: { spendCapUsd: 3 } });
    const token = source.env.OPENAI_API_KEY ?? '';
    expect(token).toContain(source.id);
    const copy = await api.answer<Sandbox>(201, `POST /sandboxes/${source.id}/fork`);
    const printed = 'printenv OPENAI_API_KEY OPENAI_BASE_URL || echo none';
    const [own, address] = (await api.say(copy.id, printed)).split('\n');
    expect([own, address]).toEqual([copy.env.OPENAI_API_KEY, source.env.OPENAI_BASE_URL]);
    expect(own).toContain(copy.id);
    const { tokens } = await api.answer<{ tokens: object[] }>(200, `GET /sandboxes/${copy.id}/egress-tokens`);
    expect(tokens).toMatchObject([{ token: own, policy: { spendCapUsd: 3 } }]);
    const { id: snapshot } = await take(source.id);
    const plain = await make({ snapshot, setup: ['printenv OPENAI_API_KEY > setup || true'] });
    expect(plain.env).toEqual({});
    // While it is made the variable is there, and empty.
    expect(await api.say(plain.id, `cat setup; ${printed}`)).toBe('\nnone');
    for (const { id } of [source, copy, plain]) await remove(id);
  });
});

describe('a new name', () => {
  test('is that of the record and of the backend, also after a restart; the old one is free', async () => {
    const { id } = await make({ name: 'old' });
    const renamed = await api.answer<Sandbox>(200, 'POST /sandboxes/old/rename', { name: 'new' });
    expect(renamed).toMatchObject({ id, name: 'new' });
    await restart();
    expect(await api.answer(200, 'GET /sandboxes/new')).toMatchObject({ id, status: 'running' });
    await api.refusal(404, 'GET /sandboxes/old');
    const other = await make({ name: 'old' });
    await api.refusal(409, 'POST /sandboxes/old/rename', { name: 'new' });
    await api.refusal(400, 'POST /sandboxes/old/rename', { name: 'a name' });
    expect(await api.say('old', 'echo here')).toBe('here');
    for (const each of [id, other.id]) await remove(each);
  });

  test('that somebody else’s sandbox has on the backend is refused, and changes nothing', async () => {
    const foreign = await local().create({ name: 'theirs', env: {}, labels: {}, limits: {} }, call);
    const { id } = await make({ name: 'mine' });
    await api.refusal(409, 'POST /sandboxes/mine/rename', { name: 'theirs' });
    expect(await api.say('mine', 'echo here')).toBe('here');
    await local().destroy(foreign.id, { force: true }, call);
    await api.answer(200, 'POST /sandboxes/mine/rename', { name: 'theirs' });
    await remove(id);
  });
});

test('the time of expiry is kept over a restart, and it is removed then', async () => {
  const { id } = await make();
  await api.refusal(400, `POST /sandboxes/${id}/extend`, { ms: 1e300 });
  await api.refusal(400, `POST /sandboxes/${id}/extend`, { ms: 10 });
  await api.answer(200, `POST /sandboxes/${id}/extend`, { ms: 1000 });
  await restart();
  await expect
    .poll(async () => (await api.ask(`GET /sandboxes/${id}`)).status, { timeout: 15_000 })
    .toBe(404);
  expect((await api.ask(`DELETE /sandboxes/${id}`)).status).toBe(404);
});
