/** Making, finding, listing and removing sandboxes. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import { type Info, recordShape, type SandboxRecord } from './shapes.ts';

export function sandboxesTopic(h: Harness): void {
  const list = async () => (await h.answer<{ sandboxes: SandboxRecord[] }>(200, 'GET /sandboxes')).sandboxes;

  test('a new one has these fields, and the defaults that info tells', async () => {
    const info = await h.answer<Info>(200, 'GET /info');
    const before = Date.now();
    const record = await h.sandbox();
    expect(record).toStrictEqual(
      recordShape({
        image: info.defaultImage,
        driver: info.driver,
        sleepAfterMs: info.defaultSleepAfterMs,
        usage: { cpuSeconds: 0, memGbSeconds: 0, egressBytes: 0 },
      }),
    );
    expect(record.lastActivityAt).toBe(record.createdAt);
    expect(Date.parse(record.createdAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(record.createdAt)).toBeLessThanOrEqual(Date.now());
  });

  test('it is found, alone and in the list', async () => {
    const record = await h.sandbox();
    expect(await h.record(record.id)).toStrictEqual(record);
    expect((await list()).filter(({ id }) => id === record.id)).toStrictEqual([record]);
  });

  test('the list is in the order of creation', async () => {
    const first = await h.sandbox();
    const second = await h.sandbox();
    const ids = (await list()).map(({ id }) => id);
    expect(ids.indexOf(first.id)).toBeLessThan(ids.indexOf(second.id));
  });

  test('those made at once are distinct and share no files', async () => {
    const made = await Promise.all(Array.from({ length: 4 }, () => h.sandbox()));
    expect(new Set(made.map(({ id }) => id)).size).toBe(4);
    const [one = '', other = ''] = made.map(({ id }) => id);
    await h.answer(200, `POST /sandboxes/${one}/files/write`, { path: '/workspace/mine', content: 'x' });
    expect(await h.answer(200, `POST /sandboxes/${other}/files/list`, { path: '/workspace' })).toStrictEqual({
      entries: [],
    });
  });

  test('one that is removed is gone, with all that belonged to it', async () => {
    const { id } = await h.sandbox();
    await h.answer(201, `POST /sandboxes/${id}/sessions`, { id: 'mine' });
    await h.answer(201, `POST /sandboxes/${id}/egress-tokens`);
    expect(await h.answer(200, `DELETE /sandboxes/${id}`)).toStrictEqual({ id, destroyed: true });
    expect(await h.refusal(404, `GET /sandboxes/${id}`)).toBe('not found');
    expect(await h.refusal(404, `DELETE /sandboxes/${id}`)).toBe('not found');
    for (const rest of [
      'sessions',
      'processes',
      'expose',
      'egress-tokens',
      'code-contexts',
      'backups',
      'env',
    ])
      expect(await h.refusal(404, `GET /sandboxes/${id}/${rest}`)).toBe('not found');
    expect((await list()).map((each) => each.id)).not.toContain(id);
  });

  test.each(['stop', 'pause'])('one can be removed after %s', async (verb) => {
    const { id } = await h.sandbox();
    await h.answer(200, `POST /sandboxes/${id}/${verb}`);
    expect(await h.answer(200, `DELETE /sandboxes/${id}`)).toStrictEqual({ id, destroyed: true });
  });
}
