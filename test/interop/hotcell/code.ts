/** Code that is run in a context which keeps what was defined. */
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';
import { identifier, moment } from './shapes.ts';

interface Context {
  readonly contextId: string;
}

const languages = {
  python: {
    define: 'kept = 41',
    use: 'kept + 1',
    print: 'print("out")',
    fail: '1/0',
    failure: /ZeroDivisionError/,
    endless: 'while True: pass',
  },
  javascript: {
    define: 'var kept = 41',
    use: 'kept + 1',
    print: 'console.log("out")',
    fail: 'throw new RangeError("no")',
    failure: /RangeError/,
    endless: 'for (;;) {}',
  },
} as const;

export function codeTopic(h: Harness): void {
  const run = (id: string, body: unknown) => h.answer(200, `POST /sandboxes/${id}/run-code`, body);
  const make = (id: string, body?: unknown) =>
    h.answer<Context>(201, `POST /sandboxes/${id}/code-contexts`, body);
  const drop = (id: string, contextId: string) =>
    h.answer(200, `DELETE /sandboxes/${id}/code-contexts/${contextId}`);
  const contexts = (id: string) => h.answer(200, `GET /sandboxes/${id}/code-contexts`);
  const result = (changed: Readonly<Record<string, unknown>>) => ({
    stdout: '',
    stderr: '',
    results: [],
    error: null,
    ...changed,
  });

  for (const language of ['python', 'javascript'] as const) {
    const spoken = h.when(h.has(language));
    const { define, use, print, fail, failure, endless } = languages[language];

    spoken(`${language}: a context keeps what was defined; others do not see it`, async () => {
      const { id } = await h.sandbox();
      const context = await make(id, { language });
      expect(context).toStrictEqual({ contextId: identifier, language, createdAt: moment });
      expect(await contexts(id)).toStrictEqual({ contexts: [context] });
      const { contextId } = context;
      expect(await run(id, { contextId, code: define })).toMatchObject({ error: null });
      expect(await run(id, { contextId, code: use })).toStrictEqual(result({ results: [{ text: '42' }] }));
      expect(await run(id, { language, code: use })).toMatchObject({
        error: expect.stringMatching(/not defined/),
      });
      expect(await drop(id, contextId)).toStrictEqual({ contextId, destroyed: true });
      // The one of the single run is put away after its answer.
      await expect.poll(() => contexts(id)).toStrictEqual({ contexts: [] });
      const gone = `POST /sandboxes/${id}/run-code` as const;
      expect(await h.refusal(404, gone, { contextId, code: use })).toBe('context not found');
    });

    spoken(`${language}: output, and errors that leave the context working`, async () => {
      const { id } = await h.shared();
      const { contextId } = await make(id, { language });
      const output = await run(id, { contextId, code: print });
      expect(output).toMatchObject({ stdout: 'out\n', stderr: '', error: null });
      const failed = await run(id, { contextId, code: fail });
      expect(failed).toStrictEqual(result({ error: expect.stringMatching(failure) }));
      expect(await run(id, { contextId, code: '6 * 7' })).toMatchObject({ results: [{ text: '42' }] });
      await drop(id, contextId);
    });

    spoken(`${language}: code that takes too long`, async () => {
      const { id } = await h.shared();
      const timedOut = result({ error: 'code execution timed out after 1s' });
      expect(await run(id, { language, code: endless, timeoutMs: 100 })).toStrictEqual(timedOut);
    });
  }

  const python = h.when(h.has('python'));

  python('python is the default; a context for one run leaves nothing', async () => {
    const { id } = await h.sandbox();
    expect(await run(id, { code: 'x = 20\nx * 2' })).toStrictEqual(result({ results: [{ text: '40' }] }));
    // It is put away after the answer.
    await expect.poll(() => contexts(id)).toStrictEqual({ contexts: [] });
    await expect.poll(() => h.say(id, 'ls .sbx 2>/dev/null || true')).toBe('');
    const { contextId } = await make(id);
    expect(await contexts(id)).toMatchObject({ contexts: [{ contextId, language: 'python' }] });
    await drop(id, contextId);
  });

  python('warnings are its stderr', async () => {
    const { id } = await h.shared();
    const code = 'import sys\nprint("grüße", file=sys.stderr)';
    expect(await run(id, { code })).toStrictEqual(result({ stderr: 'grüße\n' }));
  });

  test.each([{}, { code: 5 }, { code: null }])('running %j is refused', async (body) => {
    const { id } = await h.shared();
    expect(await h.refusal(400, `POST /sandboxes/${id}/run-code`, body)).toBe('code is required');
  });

  test('a language that there is not', async () => {
    const { id } = await h.shared();
    const text = "language must be 'python' or 'javascript'";
    for (const language of ['ruby', 'Python', 5]) {
      expect(await h.refusal(400, `POST /sandboxes/${id}/code-contexts`, { language })).toBe(text);
      expect(await h.refusal(400, `POST /sandboxes/${id}/run-code`, { language, code: '1' })).toBe(text);
    }
  });

  test('a context that there is not', async () => {
    const { id } = await h.shared();
    const to = `/sandboxes/${id}` as const;
    expect(await h.refusal(404, `DELETE ${to}/code-contexts/no-such`)).toBe('context not found');
    const body = { code: '1', contextId: 'no-such' };
    expect(await h.refusal(404, `POST ${to}/run-code`, body)).toBe('context not found');
  });

  if (h.strict)
    test.each([{ contextId: 5 }, { timeoutMs: '5' }, { timeoutMs: -1 }, { timeoutMs: 1e300 }])(
      'running %j is refused',
      async (body) => {
        await h.refusal(400, `POST /sandboxes/${(await h.shared()).id}/run-code`, { code: '1', ...body });
      },
    );
}
