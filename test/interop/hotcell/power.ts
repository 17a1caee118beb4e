/** Stopping, starting and pausing, and what wakes a paused sandbox. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import type { SandboxRecord } from './shapes.ts';
import { type Place, uses } from './uses.ts';

export function powerTopic(h: Harness): void {
  type Verb = 'stop' | 'start' | 'pause';
  const turn = (id: string, verb: Verb) => h.answer<SandboxRecord>(200, `POST /sandboxes/${id}/${verb}`);

  /** In which state each verb leaves a sandbox, by the state it was in. */
  const moves: readonly (readonly [by: readonly Verb[], verb: Verb, status: SandboxRecord['status']])[] = [
    [[], 'start', 'running'],
    [[], 'stop', 'stopped'],
    [[], 'pause', 'paused'],
    [['stop'], 'stop', 'stopped'],
    [['stop'], 'start', 'running'],
    [['pause'], 'pause', 'paused'],
    [['pause'], 'start', 'running'],
    [['pause'], 'stop', 'stopped'],
    [['pause', 'stop'], 'start', 'running'],
  ];
  test.each(moves)('after %j, %s makes it %s', async (by, verb, status) => {
    const record = await h.sandbox({ labels: { a: 'b' }, env: { C: 'd' } });
    for (const each of by) await turn(record.id, each);
    const turned = await turn(record.id, verb);
    expect(turned).toStrictEqual({ ...record, status, lastActivityAt: expect.any(String) });
    expect(await h.record(record.id)).toStrictEqual(turned);
  });

  test('a stopped sandbox cannot be paused', async () => {
    const { id } = await h.sandbox();
    await turn(id, 'stop');
    expect(await h.refusal(409, `POST /sandboxes/${id}/pause`)).toBe('sandbox is stopped; start it first');
    expect((await h.record(id)).status).toBe('stopped');
  });

  test('files, environment and sessions outlive a stop; processes, ports and contexts do not', async () => {
    const { id } = await h.sandbox();
    const to = `/sandboxes/${id}` as const;
    await h.answer(200, `POST ${to}/files/write`, { path: '/workspace/file', content: 'kept' });
    await h.answer(200, `POST ${to}/env`, { env: { KEPT: 'yes' } });
    const session = await h.answer(201, `POST ${to}/sessions`, { id: 'kept' });
    await h.answer(201, `POST ${to}/processes`, { command: 'sleep 1000' });
    await h.answer(201, `POST ${to}/expose`, { port: 8080 });
    if (h.has('python')) await h.answer(201, `POST ${to}/code-contexts`);
    await turn(id, 'stop');
    for (const look of [1, 2]) {
      expect(await h.answer(200, `GET ${to}/processes`)).toStrictEqual({ processes: [] });
      expect(await h.answer(200, `GET ${to}/expose`)).toStrictEqual({ exposed: [] });
      expect(await h.answer(200, `GET ${to}/code-contexts`)).toStrictEqual({ contexts: [] });
      expect(await h.answer(200, `GET ${to}/sessions`)).toStrictEqual({ sessions: [session] });
      expect(await h.answer(200, `GET ${to}/env`)).toStrictEqual({ env: { KEPT: 'yes' } });
      if (look === 1) await turn(id, 'start');
    }
    expect(await h.say(id, 'cat file; echo $KEPT', { sessionId: 'kept' })).toBe('keptyes');
  });

  test('environment and sessions of a stopped sandbox can be changed', async () => {
    const { id } = await h.sandbox();
    await turn(id, 'stop');
    await h.answer(201, `POST /sandboxes/${id}/sessions`, { id: 'new' });
    await h.answer(200, `POST /sandboxes/${id}/sessions/new/env`, { env: { A: '1' } });
    expect(await h.answer(200, `POST /sandboxes/${id}/env`, { env: { B: '2' } })).toStrictEqual({
      env: { B: '2' },
    });
    expect((await h.record(id)).status).toBe('stopped');
  });

  h.when(h.has('pause keeps processes'))('processes live on after a pause', async () => {
    const { id } = await h.sandbox();
    const { procId } = await h.answer<{ procId: string }>(201, `POST /sandboxes/${id}/processes`, {
      // Another FIFO for the end: whoever wrote to the first may have it open a moment longer.
      command: 'mkfifo ask end; read _ < ask; echo still here > answer; read _ < end',
    });
    await turn(id, 'pause');
    expect(
      await h.say(
        id,
        'until [ -p ask ]; do :; done; echo > ask; until [ -s answer ]; do :; done; cat answer',
      ),
    ).toBe('still here');
    expect(await h.answer(200, `GET /sandboxes/${id}/processes`)).toMatchObject({
      processes: [{ procId, status: 'running' }],
    });
  });

  h.when(h.has('stop ends all'))('nothing runs on in a sandbox that was stopped', async () => {
    const { id } = await h.sandbox();
    const command = 'while echo x >> beats; do sleep 0.01; done';
    await h.answer(201, `POST /sandboxes/${id}/processes`, { command });
    await h.say(id, 'until [ -s beats ]; do :; done');
    const running = await h.stream(`POST /sandboxes/${id}/exec`, { command: 'echo ready; sleep 1000' });
    await running.until((events) => events.length > 0);
    await turn(id, 'stop');
    // A command that the stop ended is told so.
    const last = (await running.end()).at(-1);
    expect(last).toStrictEqual({ type: 'exit', exitCode: expect.any(Number) });
    expect(last?.exitCode).not.toBe(0);
    await turn(id, 'start');
    const beats = await h.say(id, 'wc -c < beats');
    expect(await h.say(id, 'wc -c < beats')).toBe(beats);
  });

  describe('a sandbox that is not running', () => {
    let place: Place;
    beforeAll(async () => {
      const { id } = await h.sandbox();
      await h.answer(200, `POST /sandboxes/${id}/files/write`, { path: '/workspace/file', content: 'x' });
      place = await h.answer<Place>(201, `POST /sandboxes/${id}/backups`);
      place = { id, backupId: place.backupId };
    });
    const cases = uses
      .filter(({ route }) => h.has('python') || !/code/.test(route))
      .map((use): [string, typeof use] => [use.route, use]);

    test.each(cases)('%s wakes one that is paused', async (_, use) => {
      await turn(place.id, 'start');
      await turn(place.id, 'pause');
      const before = Date.now();
      await use.works(h, place);
      const { status, lastActivityAt } = await h.record(place.id);
      expect(status).toBe('running');
      expect(Date.parse(lastActivityAt)).toBeGreaterThanOrEqual(before);
    });

    test.each(cases)('%s is refused for one that is stopped', async (_, use) => {
      await turn(place.id, 'stop');
      const [status, error] = await use.fails(h, place);
      expect(status).toBe(409);
      if (error !== undefined) expect(error).toBe('sandbox is stopped; start it first');
      expect((await h.record(place.id)).status).toBe('stopped');
    });
  });
}
