/** What a new sandbox can be asked for. */
import { expect, test } from 'vitest';
import { configured, type Harness } from './harness.ts';
import { type Info, recordShape, type SandboxRecord } from './shapes.ts';

export function createTopic(h: Harness): void {
  const ids = async () =>
    (await h.answer<{ sandboxes: SandboxRecord[] }>(200, 'GET /sandboxes')).sandboxes.map(({ id }) => id);

  /** Refuses, and leaves nothing. */
  const refused = async (status: number, body: unknown): Promise<string> => {
    const before = await ids();
    const text = await h.refusal(status, 'POST /sandboxes', body);
    expect(await ids()).toEqual(before);
    return text;
  };

  test('labels, environment and image are kept', async () => {
    const { defaultImage: image } = await h.answer<Info>(200, 'GET /info');
    const asked = { labels: { team: 'web', empty: '' }, env: { GREETING: 'hi there', EMPTY: '' }, image };
    const record = await h.sandbox(asked);
    expect(record).toStrictEqual(recordShape(asked));
    expect(await h.record(record.id)).toStrictEqual(record);
    expect(await h.say(record.id, 'echo "$GREETING"; env | grep "^EMPTY="')).toBe('hi there\nEMPTY=');
  });

  test.each([
    [true, true],
    [false, false],
    [undefined, true],
  ])('persist %s is %s', async (persist, kept) => {
    expect(await h.sandbox({ persist })).toStrictEqual(recordShape({ persist: kept }));
  });

  test('sleepAfter is in milliseconds', async () => {
    expect(await h.sandbox({ sleepAfter: 3_600_000 })).toStrictEqual(
      recordShape({ sleepAfterMs: 3_600_000 }),
    );
    expect(await h.sandbox({ sleepAfter: 0 })).toStrictEqual(recordShape({ sleepAfterMs: 0 }));
  });

  test('without sleepAfter it is the default of the server', () =>
    h.another(configured, async (api) => {
      expect(await api.answer(200, 'GET /info')).toMatchObject({ defaultSleepAfterMs: 7_200_000 });
      expect(await api.answer(201, 'POST /sandboxes')).toMatchObject({ sleepAfterMs: 7_200_000 });
      expect(await api.answer(201, 'POST /sandboxes', { sleepAfter: 0 })).toMatchObject({ sleepAfterMs: 0 });
    }));

  test('a spend cap is kept; without one it is the default of the server', () =>
    h.another(configured, async (api) => {
      const create = (body: unknown) => api.answer<SandboxRecord>(201, 'POST /sandboxes', body);
      expect(await create({})).toMatchObject({ egressSpendCapUsd: 5 });
      expect(await create({ egressSpendCapUsd: 0.25 })).toMatchObject({ egressSpendCapUsd: 0.25 });
      expect(await create({ egressSpendCapUsd: 0 })).toMatchObject({ egressSpendCapUsd: 0 });
    }));

  test('the driver can be named', async () => {
    const { driver, drivers } = await h.answer<Info>(200, 'GET /info');
    expect(await h.sandbox({ driver })).toStrictEqual(recordShape({ driver }));
    for (const other of drivers.filter((each) => each !== driver)) {
      const answer = await h.ask('POST /sandboxes', { body: { driver: other } });
      // This machine may lack what it needs.
      expect([201, 422]).toContain(answer.status);
      const told = JSON.parse(answer.text) as SandboxRecord;
      if (answer.status !== 201) continue;
      expect(told).toStrictEqual(recordShape({ driver: other }));
      await h.answer(200, `DELETE /sandboxes/${told.id}`);
    }
  });

  test('a driver that there is not is refused with those that there are', async () => {
    const { drivers } = await h.answer<Info>(200, 'GET /info');
    const expected = `unknown driver "no-such" (expected: ${drivers.join(' | ')})`;
    expect(await refused(400, { driver: 'no-such' })).toBe(expected);
  });

  test('setup commands run in their order', async () => {
    const { id } = await h.sandbox({ setup: ['echo one > steps', 'echo two >> /workspace/steps'] });
    expect(await h.say(id, 'cat steps')).toBe('one\ntwo');
  });

  test('a setup command that fails makes the whole fail and leaves nothing', async () => {
    const text = await refused(422, { setup: ['true', 'exit 3', 'echo never > never'] });
    expect(text).toMatch(/^sandbox provisioning failed: \S/);
  });

  const { repo } = h;
  h.when(repo !== undefined)('a repository is cloned, at the given ref', async () => {
    const { id } = await h.sandbox({ repo: repo?.url, repoRef: repo?.ref });
    expect(await h.say(id, `cat '${repo?.file}'`)).toBe(repo?.content);
    const { id: other } = await h.sandbox({ repo: repo?.url });
    expect(await h.say(other, `test -e .git && ! test -e '${repo?.file}' && echo default`)).toBe('default');
  });

  h.when(repo !== undefined)('a repository that cannot be cloned leaves nothing', async () => {
    const failed = expect.stringMatching(/^sandbox provisioning failed: \S/);
    expect(await refused(422, { repo: `${repo?.url}-that-is-not-there` })).toEqual(failed);
    expect(await refused(422, { repo: repo?.url, repoRef: 'no-such-ref' })).toEqual(failed);
    expect(await refused(422, { repo: '--upload-pack=touch /tmp/x;' })).toEqual(failed);
  });

  if (h.strict)
    test.each([
      { image: 5 },
      { driver: 5 },
      { labels: 'x' },
      { labels: { a: 1 } },
      { labels: [] },
      { env: 'x' },
      { env: { A: 1 } },
      { env: { 'A=B': 'x' } },
      { env: { A: 'nul\u0000' } },
      { persist: 'no' },
      { persist: 0 },
      { sleepAfter: '5' },
      { sleepAfter: -1 },
      { setup: 'true' },
      { setup: ['true', 5] },
      { repo: 5 },
      { repoRef: 5 },
      { repoRef: 'main' },
      { egress: 'yes' },
      { egress: [] },
      { egressSpendCapUsd: -1 },
      { egressSpendCapUsd: '1' },
    ])('%j is refused, not passed over', async (body) => {
      await refused(400, body);
    });
}
