/** The environment that every command of a sandbox gets, and what goes before it. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import { openTerminal } from './terminal-socket.ts';

export function envTopic(h: Harness): void {
  test('it is got, and merged', async () => {
    const { id } = await h.sandbox({ env: { A: '1', B: '2' } });
    const to = `/sandboxes/${id}/env` as const;
    expect(await h.answer(200, `GET ${to}`)).toStrictEqual({ env: { A: '1', B: '2' } });
    const env = { A: '1', B: 'new', C: '' };
    expect(await h.answer(200, `POST ${to}`, { env: { B: 'new', C: '' } })).toStrictEqual({ env });
    expect(await h.answer(200, `POST ${to}`, {})).toStrictEqual({ env });
    expect(await h.answer(200, `GET ${to}`)).toStrictEqual({ env });
    expect((await h.record(id)).env).toStrictEqual(env);
    expect(await h.say(id, 'echo $A $B "[$C]"')).toBe('1 new []');
  });

  test('of a command: the sandbox, over it the session, over it the request', async () => {
    const { id } = await h.sandbox({ env: { BOX: 'box', SESSION: 'box', REQUEST: 'box' } });
    await h.answer(201, `POST /sandboxes/${id}/sessions`, {
      id: 'one',
      env: { SESSION: 'session', REQUEST: 'session' },
    });
    const command = 'echo $BOX $SESSION $REQUEST';
    const env = { REQUEST: 'request' };
    expect(await h.say(id, command)).toBe('box box box');
    expect(await h.say(id, command, { env })).toBe('box box request');
    expect(await h.say(id, command, { sessionId: 'one' })).toBe('box session session');
    expect(await h.say(id, command, { sessionId: 'one', env })).toBe('box session request');
    // What a request brings is over with it.
    expect(await h.say(id, command, { sessionId: 'one' })).toBe('box session session');
  });

  test('of a process: the sandbox, over it the request', async () => {
    const { id } = await h.sandbox({ env: { BOX: 'box', REQUEST: 'box' } });
    const command = 'mkfifo said; echo $BOX $REQUEST > said';
    await h.answer(201, `POST /sandboxes/${id}/processes`, { command, env: { REQUEST: 'request' } });
    expect(await h.say(id, 'until [ -p said ]; do :; done; cat said')).toBe('box request');
  });

  test('of a terminal: the sandbox', async () => {
    const { id } = await h.sandbox({ env: { GREETING: 'hello' } });
    const terminal = await openTerminal(h.server(), id);
    terminal.keys("printf '<%s>' $GREETING\r");
    await terminal.until(/<hello>/);
    await terminal.close();
  });

  test('values are taken as they are', async () => {
    const value = 'a "b" \'c\' $HOME `id` \\n\n= ü';
    const { id } = await h.sandbox({ env: { VALUE: value } });
    expect(await h.say(id, 'printf %s "$VALUE"')).toBe(value);
    expect(await h.say(id, 'printf %s "$OTHER"', { env: { OTHER: value } })).toBe(value);
  });

  if (h.strict)
    test.each([{ env: 'x' }, { env: [] }, { env: { A: 1 } }, { env: { 'A B=': 'x' } }])(
      '%j is refused and changes nothing',
      async (body) => {
        const { id } = await h.sandbox({ env: { A: '1' } });
        await h.refusal(400, `POST /sandboxes/${id}/env`, body);
        expect(await h.answer(200, `GET /sandboxes/${id}/env`)).toStrictEqual({ env: { A: '1' } });
      },
    );
}
