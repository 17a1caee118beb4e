/** What background processes printed. */
import { expect, test } from 'vitest';
import type { Event } from './event-stream.ts';
import type { Harness } from './harness.ts';
import type { Process } from './shapes.ts';

export function logsTopic(h: Harness): void {
  const logged = (events: readonly Event[]) => events.map(({ data }) => data ?? '').join('');
  const start = async (command: string): Promise<{ id: string; to: `/${string}`; procId: string }> => {
    const { id } = await h.sandbox();
    const { procId } = await h.answer<Process>(201, `POST /sandboxes/${id}/processes`, { command });
    return { id, procId, to: `/sandboxes/${id}/processes/${procId}/logs` };
  };
  /** Prints, and then is there until `end` is written to. */
  const waits = (print: string) => `mkfifo end; ${print}; echo > printed; read _ < end; echo bye`;
  const printed = (id: string) => h.say(id, 'until [ -e printed ]; do :; done');
  const end = (id: string) => h.say(id, 'echo > end');

  test('both outputs, byte for byte, and an end', async () => {
    const { id, to } = await start(waits('echo out; echo err >&2'));
    await printed(id);
    const events = await h.stream(`GET ${to}`);
    const all = await events.end();
    expect(logged(all)).toBe('out\nerr\n');
    expect(events.raw()).toMatch(/^data: \{"type":"log","data":"out\\n.*"\}\n\ndata: \{"type":"end"\}\n\n$/s);
    for (const event of all.slice(0, -1))
      expect(event).toStrictEqual({ type: 'log', data: expect.any(String) });
    await end(id);
  });

  test('of one that printed nothing', async () => {
    const { id, to } = await start(waits('true'));
    await printed(id);
    expect(await (await h.stream(`GET ${to}`)).end()).toStrictEqual([{ type: 'end' }]);
    await end(id);
  });

  test('follow=0 does not follow', async () => {
    const { id, to } = await start(waits('echo out'));
    await printed(id);
    expect(logged(await (await h.stream(`GET ${to}?follow=0`)).end())).toBe('out\n');
    await end(id);
  });

  test.each(['follow', 'follow=1', 'follow=true'])('%s goes on', async (query) => {
    const { id, to } = await start(waits('echo out'));
    const events = await h.stream(`GET ${to}?${query}`);
    await events.until((some) => logged(some).includes('out\n'));
    await end(id);
    await events.until((some) => logged(some) === 'out\nbye\n');
    events.close();
  });

  test('they are there when the process has ended', async () => {
    const { id, to } = await start('seq 20000');
    const processes = async () => h.answer(200, `GET /sandboxes/${id}/processes`);
    await expect.poll(processes).toMatchObject({ processes: [{ status: 'exited' }] });
    const lines = logged(await (await h.stream(`GET ${to}`)).end()).split('\n');
    expect([lines.length, lines[0], lines[19_999]]).toEqual([20_001, '1', '20000']);
  });

  test('each of two processes has its own', async () => {
    const { id } = await h.sandbox();
    for (const word of ['one', 'two']) {
      const command = `echo ${word}; echo > ${word}`;
      const { procId } = await h.answer<Process>(201, `POST /sandboxes/${id}/processes`, { command });
      await h.say(id, `until [ -e ${word} ]; do :; done`);
      const events = await h.stream(`GET /sandboxes/${id}/processes/${procId}/logs`);
      expect(logged(await events.end())).toBe(`${word}\n`);
    }
  });

  h.when(h.has('follow ends'))('logs that are followed end with their process', async () => {
    const { id, to } = await start(waits('echo out'));
    const events = await h.stream(`GET ${to}?follow=1`);
    await events.until((some) => logged(some) === 'out\n');
    await end(id);
    const all = await events.end();
    expect(logged(all)).toBe('out\nbye\n');
    expect(all.at(-1)).toStrictEqual({ type: 'end' });
  });
}
