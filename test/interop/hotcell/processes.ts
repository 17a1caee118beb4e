/** Background processes. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import { type Process, processShape } from './shapes.ts';

export function processesTopic(h: Harness): void {
  const start = (id: string, command: string, more = {}) =>
    h.answer<Process>(201, `POST /sandboxes/${id}/processes`, { command, ...more });
  const list = async (id: string) =>
    (await h.answer<{ processes: Process[] }>(200, `GET /sandboxes/${id}/processes`)).processes;
  const kill = (id: string, procId: string, body?: unknown) =>
    h.answer(200, `DELETE /sandboxes/${id}/processes/${procId}`, body);

  test('a new one has these fields, alone and in the list', async () => {
    const { id } = await h.sandbox();
    expect(await list(id)).toStrictEqual([]);
    const command = 'mkfifo end; read _ < end';
    const first = await start(id, command);
    expect(first).toStrictEqual(processShape({ command }));
    const second = await start(id, 'sleep 1000');
    expect(await list(id)).toStrictEqual([first, second]);
    await h.say(id, 'until [ -p end ]; do :; done; echo > end');
    await kill(id, second.procId, { signal: 'KILL' });
  });

  test('one that ends is exited', async () => {
    const { id } = await h.sandbox();
    const process = await start(id, 'mkfifo end; read _ < end; exit 3');
    expect((await list(id))[0]?.status).toBe('running');
    await h.say(id, 'until [ -p end ]; do :; done; echo > end');
    await expect.poll(async () => (await list(id))[0]?.status).toBe('exited');
    // The seed never learns the code.
    const exitCode = expect.toSatisfy((code: unknown) => code === null || code === 3);
    expect(await list(id)).toStrictEqual([{ ...process, status: 'exited', exitCode }]);
    // Who looks while the process is being reaped sees no code yet.
    if (h.strict) await expect.poll(() => list(id)).toMatchObject([{ exitCode: 3 }]);
  });

  test('workdir and environment', async () => {
    const { id } = await h.sandbox({ setup: ['mkdir sub'] });
    await start(id, 'mkfifo said; echo "$A" > said', { cwd: '/workspace/sub', env: { A: 'there' } });
    expect(await h.say(id, 'until [ -p sub/said ]; do :; done; cat sub/said')).toBe('there');
  });

  /** Ends when the process does, whose descriptor 9 is the other end; prints what it wrote there. */
  const watched = async (id: string, command: string) => {
    await h.say(id, 'mkfifo alive');
    const events = await h.stream(`POST /sandboxes/${id}/exec`, { command: 'echo ready; cat alive' });
    await events.until((some) => some.length > 0);
    const process = await start(id, `exec 9> alive; ${command}`);
    return {
      ...process,
      events,
      last: async () => (await events.end()).map(({ data }) => data ?? '').join(''),
    };
  };

  test('it is told to end with TERM, and all that it started', async () => {
    const { id } = await h.sandbox();
    const command = "trap 'echo told >&9; exit' TERM; echo up >&9; sleep 1000 & wait";
    const { procId, events, last } = await watched(id, command);
    await events.until((some) => some.some(({ data }) => String(data).includes('up')));
    expect(await kill(id, procId)).toStrictEqual({ ok: true });
    expect(await last()).toBe('ready\nup\ntold\n');
    expect((await list(id))[0]?.status).toBe('exited');
  });

  test.each(['KILL', 'SIGKILL'])('signal %s', async (signal) => {
    const { id } = await h.sandbox();
    const { procId, events, last } = await watched(id, "trap '' TERM; echo up >&9; sleep 1000 & wait; wait");
    await events.until((some) => some.some(({ data }) => String(data).includes('up')));
    expect(await kill(id, procId, { signal })).toStrictEqual({ ok: true });
    expect(await last()).toBe('ready\nup\n');
    expect((await list(id))[0]?.status).toBe('exited');
  });

  test('many at once', async () => {
    const { id } = await h.sandbox();
    const made = await Promise.all(Array.from({ length: 5 }, () => start(id, 'true')));
    expect(new Set(made.map(({ procId }) => procId)).size).toBe(5);
    await expect.poll(async () => (await list(id)).every(({ status }) => status === 'exited')).toBe(true);
  });

  test.each([{}, { command: '' }, { command: 5 }, { command: null }])('%j is refused', async (body) => {
    const { id } = await h.shared();
    expect(await h.refusal(400, `POST /sandboxes/${id}/processes`, body)).toBe('command is required');
  });

  test('a process that there is not', async () => {
    const { id } = await h.shared();
    const to = `/sandboxes/${id}/processes/no-such` as const;
    expect(await h.refusal(404, `DELETE ${to}`)).toBe('process not found');
    expect(await h.refusal(404, `GET ${to}/logs`)).toBe('process not found');
    const other = await start((await h.sandbox()).id, 'true');
    const strange = `DELETE /sandboxes/${id}/processes/${other.procId}` as const;
    expect(await h.refusal(404, strange)).toBe('process not found');
  });

  test('a signal that there is not', async () => {
    const { id } = await h.sandbox();
    const { procId } = await start(id, 'sleep 1000');
    await h.refusal(h.fault(400), `DELETE /sandboxes/${id}/processes/${procId}`, { signal: 'NOPE' });
    expect((await list(id))[0]?.status).toBe('running');
    await kill(id, procId, { signal: 'KILL' });
  });

  if (h.strict) {
    test('a signal that does not end it leaves it running', async () => {
      const { id } = await h.sandbox();
      const waiting = 'echo up > up; while :; do sleep 1000 & wait; done';
      const { procId } = await start(id, `mkfifo up; trap 'echo told > told' USR1; ${waiting}`);
      await h.say(id, 'until [ -p up ]; do :; done; cat up');
      await kill(id, procId, { signal: 'USR1' });
      expect((await list(id))[0]?.status).toBe('running');
      await kill(id, procId, { signal: 'KILL' });
    });

    test('one that has ended can be told to end', async () => {
      const { id } = await h.sandbox();
      const { procId } = await start(id, 'true');
      await expect.poll(async () => (await list(id))[0]?.status).toBe('exited');
      expect(await kill(id, procId)).toStrictEqual({ ok: true });
    });

    test.each([{ cwd: 5 }, { env: 'x' }, { env: { A: 1 } }])('%j is refused', async (body) => {
      const { id } = await h.shared();
      await h.refusal(400, `POST /sandboxes/${id}/processes`, { command: 'true', ...body });
    });
  }
}
