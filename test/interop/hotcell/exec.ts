/** Commands, whose output comes as events. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';

export function execTopic(h: Harness): void {
  const shared = async () => (await h.shared()).id;

  test('the events, byte for byte', async () => {
    const events = await h.stream(`POST /sandboxes/${await shared()}/exec`, { command: 'echo hi' });
    await events.end();
    expect(events.raw()).toBe(
      'data: {"type":"stdout","data":"hi\\n"}\n\ndata: {"type":"exit","exitCode":0}\n\n',
    );
  });

  test('both outputs and the exit code', async () => {
    const command = 'printf out; printf err >&2; exit 7';
    expect(await h.exec(await shared(), command)).toEqual({ stdout: 'out', stderr: 'err', exitCode: 7 });
  });

  test('a command that prints nothing has one event', async () => {
    const events = await h.stream(`POST /sandboxes/${await shared()}/exec`, { command: 'true' });
    expect(await events.end()).toStrictEqual([{ type: 'exit', exitCode: 0 }]);
  });

  test('output comes while the command runs, and others can run meanwhile', async () => {
    const { id } = await h.sandbox();
    const events = await h.stream(`POST /sandboxes/${id}/exec`, {
      command: 'mkfifo go; echo first; read _ < go; echo second',
    });
    await events.until(([first]) => first?.data === 'first\n');
    expect(events.events()).toHaveLength(1);
    await h.say(id, 'echo > go');
    expect((await events.end()).map(({ data }) => data)).toEqual(['first\n', 'second\n', undefined]);
  });

  test('its input is empty', async () => {
    expect(await h.exec(await shared(), 'wc -c')).toMatchObject({
      stdout: expect.stringMatching(/^\s*0\n$/),
    });
  });

  test('it is shell text', async () => {
    const command = 'a="x  y"; for i in 1 2; do\necho "$i $a"\ndone | tail -n 1 # a comment';
    expect(await h.say(await shared(), command)).toBe('2 x  y');
  });

  test('a command that is not there', async () => {
    const { exitCode, stderr } = await h.exec(await shared(), 'no-such-command');
    expect(exitCode).toBe(127);
    expect(stderr).toContain('no-such-command');
  });

  test('one that a signal killed has 128 and its number', async () => {
    expect(await h.exec(await shared(), 'kill -KILL $$')).toMatchObject({ exitCode: 137 });
  });

  test('much output arrives whole', async () => {
    const { stdout } = await h.exec(await shared(), 'seq 300000');
    const lines = stdout.split('\n');
    expect([lines.length, lines[0], lines[150_000], lines[299_999]]).toEqual([
      300_001,
      '1',
      '150001',
      '300000',
    ]);
  });

  test('characters of other scripts', async () => {
    expect(await h.say(await shared(), "printf '%s' 'grüße 🙂 日本'")).toBe('grüße 🙂 日本');
  });

  test('the workdir is /workspace, or as asked', async () => {
    const { id } = await h.sandbox();
    await h.answer(200, `POST /sandboxes/${id}/files/write`, {
      path: '/workspace/sub/file',
      content: 'here',
    });
    expect(await h.say(id, 'cat sub/file')).toBe('here');
    expect(await h.say(id, 'cat file', { cwd: '/workspace/sub' })).toBe('here');
  });

  test('a workdir that is not there is told in the stream', async () => {
    const { exitCode, stderr } = await h.exec(await shared(), 'echo never', { cwd: '/workspace/nowhere' });
    expect(exitCode).not.toBe(0);
    expect(stderr).not.toBe('');
  });

  test.each([{}, { command: '' }, { command: 5 }, { command: null }, { command: ['true'] }])(
    '%j is refused',
    async (body) => {
      expect(await h.refusal(400, `POST /sandboxes/${await shared()}/exec`, body)).toBe(
        'command is required',
      );
    },
  );

  test('a session that there is not', async () => {
    const body = { command: 'true', sessionId: 'no-such-session' };
    expect(await h.refusal(404, `POST /sandboxes/${await shared()}/exec`, body)).toBe('session not found');
  });

  if (h.strict) {
    test.each([{ cwd: 5 }, { env: 'x' }, { env: { A: 1 } }, { sessionId: 5 }, { command: 'a\u0000b' }])(
      '%j is refused, not passed over',
      async (body) => {
        await h.refusal(400, `POST /sandboxes/${await shared()}/exec`, { command: 'true', ...body });
      },
    );

    test('a character that comes in two pieces is one', async () => {
      const { id } = await h.sandbox();
      const events = await h.stream(`POST /sandboxes/${id}/exec`, {
        command: "mkfifo go; echo ready; printf '\\303'; read _ < go; printf '\\251'",
      });
      await events.until((some) => some.length > 0);
      await h.say(id, 'echo > go');
      const text = (await events.end()).map(({ data }) => data ?? '').join('');
      expect(text).toBe('ready\né');
    });
  }
}
