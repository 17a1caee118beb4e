/** Changes of files as events. */
import { expect, test } from 'vitest';
import type { Event } from './event-stream.ts';
import type { Harness } from './harness.ts';

export function watchTopic(h: Harness): void {
  const of = (type: string, name: string) => (events: Event[]) =>
    events.some((event) => event.type === type && String(event.path).endsWith(`/${name}`));

  test('it begins with a comment, before anything has changed', async () => {
    const events = await h.stream(`GET /sandboxes/${(await h.shared()).id}/watch`);
    await events.begun();
    expect(events.raw()).toBe(': watching\n\n');
    events.close();
  });

  test('files that are made and changed, also in folders', async () => {
    const { id } = await h.sandbox({ setup: ['mkdir folder', 'echo before > folder/old'] });
    const events = await h.stream(`GET /sandboxes/${id}/watch?interval=20`);
    await events.begun();
    // The first look at the files has been taken when a later request has been answered.
    await h.say(id, 'cat folder/old');
    await h.say(id, 'echo new > new');
    await events.until(of('create', 'new'));
    // The time of a change may be too coarse to tell two apart.
    await h.say(id, 'echo more >> folder/old; touch -d 2001-02-03 folder/old');
    await events.until(of('modify', 'folder/old'));
    for (const event of events.events())
      expect(event).toStrictEqual({
        type: expect.stringMatching(/^(create|modify)$/),
        path: expect.stringMatching(/^\/.*\/(new|folder(\/old)?)$/),
      });
    expect(events.raw()).toMatch(/\n\ndata: \{"type":"create","path":"[^"]*\/new"\}\n\n/);
    events.close();
  });

  test('files that are removed', async () => {
    const { id } = await h.sandbox();
    for (let round = 1; ; round++) {
      await h.say(id, 'echo > old');
      const events = await h.stream(`GET /sandboxes/${id}/watch?interval=100`);
      await events.begun();
      await h.say(id, 'cat old');
      await h.say(id, 'rm old');
      await events.until((some) => of('delete', 'old')(some) || some.some(({ type }) => type === 'error'));
      events.close();
      if (of('delete', 'old')(events.events())) return;
      // The stand-in of the seed stumbles over a file that goes away while it looks.
      expect(h.strict).not.toBe(true);
      expect(round).toBeLessThan(10);
    }
  });

  test('another folder, and nothing from beside it', async () => {
    const { id } = await h.sandbox({ setup: ['mkdir one two'] });
    const events = await h.stream(`GET /sandboxes/${id}/watch?path=/workspace/one&interval=20`);
    await events.begun();
    await h.say(id, 'ls one');
    await h.say(id, 'echo > two/beside; echo > one/inside');
    await events.until(of('create', 'inside'));
    expect(of('create', 'beside')(events.events())).toBe(false);
    events.close();
  });

  test('a folder that is not there is an event, and the end', async () => {
    const { id } = await h.shared();
    const events = await h.stream(`GET /sandboxes/${id}/watch?path=/workspace/no-such-folder`);
    expect(await events.end()).toStrictEqual([{ type: 'error', error: expect.stringMatching(/\S/) }]);
    expect(events.raw()).toMatch(/^: watching\n\ndata: \{"type":"error","error":".*"\}\n\n$/);
  });

  test('one who leaves is forgotten: the next is served', async () => {
    const { id } = await h.shared();
    for (let round = 0; round < 5; round++) {
      const events = await h.stream(`GET /sandboxes/${id}/watch`);
      await events.begun();
      events.close();
    }
    expect((await h.ask('GET /healthz')).status).toBe(200);
  });

  if (h.strict)
    test.each(['interval=-5', 'interval=x', 'interval=1e99', 'path='])('%s is refused', async (query) => {
      await h.refusal(400, `GET /sandboxes/${(await h.shared()).id}/watch?${query}`);
    });
}
