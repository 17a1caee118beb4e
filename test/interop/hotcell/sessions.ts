/** Sessions: a workdir and an environment that commands of theirs share. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import { identifier, moment, type Session } from './shapes.ts';

export function sessionsTopic(h: Harness): void {
  const make = (id: string, body?: unknown) => h.answer<Session>(201, `POST /sandboxes/${id}/sessions`, body);
  const list = async (id: string) =>
    (await h.answer<{ sessions: Session[] }>(200, `GET /sandboxes/${id}/sessions`)).sessions;

  test('a new one has an id, /workspace and an empty environment', async () => {
    const { id } = await h.sandbox();
    expect(await list(id)).toStrictEqual([]);
    const session = await make(id);
    const fields = { sessionId: identifier, cwd: '/workspace', env: {}, createdAt: moment };
    expect(session).toStrictEqual({ ...fields, sessionId: expect.stringMatching(/^[A-Za-z0-9_-]+$/) });
    const named = await make(id, { id: 'build-1', cwd: '/tmp', env: { A: 'b' } });
    expect(named).toStrictEqual({ ...fields, sessionId: 'build-1', cwd: '/tmp', env: { A: 'b' } });
    expect(await list(id)).toStrictEqual([session, named]);
  });

  test('an id that is taken is refused; in another sandbox it is free', async () => {
    const { id } = await h.sandbox();
    const first = await make(id, { id: 'one', cwd: '/tmp' });
    const body = { id: 'one', cwd: '/' };
    expect(await h.refusal(409, `POST /sandboxes/${id}/sessions`, body)).toBe('session already exists');
    expect(await list(id)).toStrictEqual([first]);
    await make((await h.sandbox()).id, { id: 'one' });
  });

  test('an empty id is as good as none', async () => {
    const { id } = await h.sandbox();
    expect((await make(id, { id: '' })).sessionId).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  test('one that is deleted is gone', async () => {
    const { id } = await h.sandbox();
    await make(id, { id: 'one' });
    expect(await h.answer(200, `DELETE /sandboxes/${id}/sessions/one`)).toStrictEqual({ ok: true });
    expect(await list(id)).toStrictEqual([]);
    expect(await h.refusal(404, `DELETE /sandboxes/${id}/sessions/one`)).toBe('session not found');
    const used = { command: 'true', sessionId: 'one' };
    expect(await h.refusal(404, `POST /sandboxes/${id}/exec`, used)).toBe('session not found');
    await make(id, { id: 'one' });
  });

  test('its environment is merged', async () => {
    const { id } = await h.sandbox();
    const session = await make(id, { id: 'one', env: { A: '1', B: '2' } });
    const to = `POST /sandboxes/${id}/sessions/one/env` as const;
    const merged = { ...session, env: { A: '1', B: 'new', C: '3' } };
    expect(await h.answer(200, to, { env: { B: 'new', C: '3' } })).toStrictEqual(merged);
    expect(await h.answer(200, to, {})).toStrictEqual(merged);
    expect(await list(id)).toStrictEqual([merged]);
    expect(await h.refusal(404, `POST /sandboxes/${id}/sessions/no-such/env`)).toBe('session not found');
  });

  test('its workdir follows cd', async () => {
    const { id } = await h.sandbox({ setup: ['mkdir -p sub/deep other'] });
    await make(id, { id: 'one' });
    const run = (command: string, more = {}) => h.exec(id, command, { sessionId: 'one', ...more });
    await run('cd sub');
    expect((await list(id))[0]?.cwd).toMatch(/\/sub$/);
    expect(await run('echo here > file')).toMatchObject({ exitCode: 0 });
    // A comment at the end hides nothing of what the server adds.
    await run('cd deep # and stay');
    expect((await list(id))[0]?.cwd).toMatch(/\/sub\/deep$/);
    expect(await run('cat ../file')).toEqual({ stdout: 'here\n', stderr: '', exitCode: 0 });
    const { stdout } = await run('pwd');
    expect(`${(await list(id))[0]?.cwd}\n`).toBe(stdout);
    // A workdir that is asked for counts once, and is where the session then is.
    await run('true', { cwd: '/workspace/other' });
    expect((await list(id))[0]?.cwd).toMatch(/\/other$/);
  });

  test('it follows cd of a command that fails, whose exit code is kept', async () => {
    const { id } = await h.sandbox({ setup: ['mkdir sub'] });
    await make(id, { id: 'one' });
    expect(await h.exec(id, 'cd sub\n(exit 9)', { sessionId: 'one' })).toMatchObject({ exitCode: 9 });
    expect((await list(id))[0]?.cwd).toMatch(/\/sub$/);
    expect(await h.exec(id, 'exit 4', { sessionId: 'one' })).toMatchObject({ exitCode: 4 });
    expect((await list(id))[0]?.cwd).toMatch(/\/sub$/);
  });

  test('two sessions do not share a workdir, and commands without one stay in /workspace', async () => {
    const { id } = await h.sandbox({ setup: ['mkdir sub'] });
    await make(id, { id: 'one' });
    await make(id, { id: 'two' });
    await h.say(id, 'cd sub', { sessionId: 'one' });
    for (const more of [{ sessionId: 'two' }, {}]) expect(await h.say(id, 'ls', more)).toBe('sub');
    expect(await h.say(id, 'ls', { sessionId: 'one' })).toBe('');
  });

  if (h.strict) {
    test.each(['../x', 'a/b', 'a b', '$(id)', ';', '-x', '.', 'x'.repeat(200), 'ü', 'x\n'])(
      'the id %j is refused, because it could mean something else in a path or a shell',
      async (name) => {
        await h.refusal(400, `POST /sandboxes/${(await h.shared()).id}/sessions`, { id: name });
      },
    );

    test.each([{ id: 5 }, { cwd: 5 }, { env: 'x' }, { env: { A: 1 } }])('%j is refused', async (body) => {
      await h.refusal(400, `POST /sandboxes/${(await h.shared()).id}/sessions`, body);
    });
  }
}
