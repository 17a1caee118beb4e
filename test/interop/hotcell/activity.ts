/** What counts as use of a sandbox: it puts off the moment at which an idle one is paused. */
import { beforeAll, expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import { routes, targetOf } from './routes.ts';
import { openTerminal } from './terminal-socket.ts';
import { type Place, uses } from './uses.ts';

export function activityTopic(h: Harness): void {
  let place: Place;
  beforeAll(async () => {
    const { id } = await h.sandbox();
    await h.answer(200, `POST /sandboxes/${id}/files/write`, { path: '/workspace/file', content: 'x' });
    const { backupId } = await h.answer<Place>(201, `POST /sandboxes/${id}/backups`);
    place = { id, backupId };
  });

  const active = uses.filter(({ route }) => h.has('python') || !/code/.test(route));
  test.each(active.map((use): [string, typeof use] => [use.route, use]))('%s is', async (_, use) => {
    const before = Date.now();
    await use.works(h, place);
    expect(Date.parse((await h.record(place.id)).lastActivityAt)).toBeGreaterThanOrEqual(before);
  });

  test('keys in a terminal are', async () => {
    const terminal = await openTerminal(h.server(), place.id);
    terminal.keys('echo "fi""rst"\r');
    await terminal.until(/first/);
    const before = Date.now();
    terminal.keys('echo "sec""ond"\r');
    await terminal.until(/second/);
    expect(Date.parse((await h.record(place.id)).lastActivityAt)).toBeGreaterThanOrEqual(before);
    await terminal.close();
  });

  const passive = routes.filter(
    ({ method, path, live }) =>
      method === 'GET' && !live && /^\/(sandboxes|backups|traces|capacity)/.test(path),
  );
  test.each(passive.map((route): [string, typeof route] => [route.path, route]))(
    'GET %s is not, and wakes nobody',
    async (_, route) => {
      await h.answer(200, `POST /sandboxes/${place.id}/pause`);
      const before = await h.record(place.id);
      expect(before.status).toBe('paused');
      expect([200, 404]).toContain((await h.ask(targetOf(route, place.id))).status);
      expect(await h.record(place.id)).toStrictEqual(before);
    },
  );

  test('sessions, tokens and the environment are not, and wake nobody', async () => {
    await h.answer(200, `POST /sandboxes/${place.id}/pause`);
    const { lastActivityAt, status } = await h.record(place.id);
    const { sessionId } = await h.answer<{ sessionId: string }>(201, `POST /sandboxes/${place.id}/sessions`);
    await h.answer(200, `POST /sandboxes/${place.id}/sessions/${sessionId}/env`, { env: {} });
    await h.answer(200, `DELETE /sandboxes/${place.id}/sessions/${sessionId}`);
    await h.answer(201, `POST /sandboxes/${place.id}/egress-tokens`);
    await h.answer(200, `POST /sandboxes/${place.id}/env`, { env: {} });
    expect(await h.record(place.id)).toMatchObject({ lastActivityAt, status });
  });

  const kept = h.when(h.has('idle pause'));
  kept('a sandbox that is left alone is paused, and wakes when it is used', async () => {
    const { id } = await h.sandbox({ sleepAfter: 50 });
    await expect.poll(async () => (await h.record(id)).status).toBe('paused');
    expect(await h.say(id, 'echo awake')).toBe('awake');
  });

  kept('one in which a command runs is not left alone', async () => {
    const { id } = await h.sandbox({ sleepAfter: 50 });
    const running = await h.stream(`POST /sandboxes/${id}/exec`, {
      command: 'mkfifo go; echo ready; read _ < go; echo done',
    });
    await running.until((events) => events.length > 0);
    // Another that is as old is paused by now, this one is not.
    const other = await h.sandbox({ sleepAfter: 50 });
    await expect.poll(async () => (await h.record(other.id)).status).toBe('paused');
    expect((await h.record(id)).status).toBe('running');
    await h.say(id, 'echo > go');
    expect((await running.end()).slice(-2)).toEqual([
      { type: 'stdout', data: 'done\n' },
      { type: 'exit', exitCode: 0 },
    ]);
  });
}
