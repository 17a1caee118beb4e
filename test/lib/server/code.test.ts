/** Code in sandboxes of the local backend, beyond what the suite of the API asks for. */
import { request } from 'node:http';
import { beforeEach, describe, expect } from 'vitest';
import { keyOf } from '../../interop/hotcell/server.ts';
import { servedApi, test, unavailable } from './served-api.ts';

const { api, server, restart } = servedApi();
let id = '';
beforeEach(async () => {
  if (unavailable !== undefined) return;
  ({ id } = await api.answer<{ id: string }>(201, 'POST /sandboxes'));
});

const run = (body: object) => api.answer<object>(200, `POST /sandboxes/${id}/run-code`, body);
const make = async (language: string) =>
  (await api.answer<{ contextId: string }>(201, `POST /sandboxes/${id}/code-contexts`, { language }))
    .contextId;
const contexts = () => api.answer(200, `GET /sandboxes/${id}/code-contexts`);
const drop = (contextId: string) => api.answer(200, `DELETE /sandboxes/${id}/code-contexts/${contextId}`);
/** What is left of interpreters. */
const left = () => api.say(id, 'ls -A /tmp/.sbx-code-0; grep -ls SBX_CODE_ID= /proc/[0-9]*/environ || true');

describe.each(['python', 'javascript'] as const)('%s', (language) => {
  const isPython = language === 'python';
  const by = (python: string, javascript: string) => (isPython ? python : javascript);

  test('a context outlives the server', async () => {
    const contextId = await make(language);
    await run({ contextId, code: by('kept = 1', 'var kept = 1') });
    await restart();
    expect(await run({ contextId, code: 'kept + 1' })).toMatchObject({
      results: [{ text: '2' }],
      error: null,
    });
    await drop(contextId);
    expect(await left()).toBe('');
  });

  test('one that is interrupted keeps what it has', async () => {
    const contextId = await make(language);
    await run({ contextId, code: by('kept = 1', 'var kept = 1') });
    const endless = by('while True: pass', 'for (;;) {}');
    expect(await run({ contextId, code: endless, timeoutMs: 1 })).toEqual({
      stdout: '',
      stderr: '',
      results: [],
      error: 'code execution timed out after 1s',
    });
    expect(await run({ contextId, code: 'kept' })).toMatchObject({ results: [{ text: '1' }] });
    await drop(contextId);
  });

  test('one that does not let itself be interrupted ends', async () => {
    const contextId = await make(language);
    const stubborn = by(
      'import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass',
      'process.removeAllListeners("SIGINT"); process.on("SIGINT", () => {}); new Promise(() => {})',
    );
    expect(await run({ contextId, code: stubborn, timeoutMs: 1 })).toMatchObject({
      error: 'code execution timed out after 1s',
    });
    expect(await contexts()).toEqual({ contexts: [] });
    expect(await left()).toBe('');
  });

  test('one that ends itself says how, and is gone', async () => {
    const contextId = await make(language);
    const code = by('import os; os._exit(3)', 'process.exit(3)');
    expect(await run({ contextId, code })).toMatchObject({
      error: 'the interpreter has ended with exit code 3',
    });
    expect(await contexts()).toEqual({ contexts: [] });
    expect(await left()).toBe('');
    expect(await run({ language, code })).toMatchObject({
      error: 'the interpreter has ended with exit code 3',
    });
    expect(await left()).toBe('');
  });

  test('one that was ended from outside is told of by the next run', async () => {
    const contextId = await make(language);
    await api.say(id, `kill -9 $(cat /tmp/.sbx-code-0/${contextId}/pid)`);
    // Seen by who kept it.
    await api.say(id, `until [ -e /tmp/.sbx-code-0/${contextId}/dead ]; do :; done`);
    const body = { contextId, code: '1' };
    expect(await api.refusal(409, `POST /sandboxes/${id}/run-code`, body)).toMatch(/has ended; make another/);
    expect(await api.refusal(404, `POST /sandboxes/${id}/run-code`, body)).toBe('context not found');
    expect(await left()).toBe('');
  });

  test('what other programs print counts, and what is too long is cut', async () => {
    const contextId = await make(language);
    const shell = by(
      'import subprocess\nsubprocess.run(["sh", "-c", "echo out; echo err >&2"])\nNone',
      'void require("child_process").spawnSync("sh", ["-c", "echo out; echo err >&2"], {stdio: "inherit"})',
    );
    expect(await run({ contextId, code: shell })).toMatchObject({
      stdout: 'out\n',
      stderr: 'err\n',
      error: null,
    });
    const long = by('print("x" * (1 << 20) + "yz")', 'console.log("x".repeat(1 << 20) + "yz")');
    const { stdout } = (await run({ contextId, code: long })) as { stdout: string };
    expect(stdout.slice(-20)).toBe('xx\n[3 bytes more]\n'.padStart(20, 'x'));
    await drop(contextId);
  });

  test('runs in a context come one after the other', async () => {
    const contextId = await make(language);
    await run({ contextId, code: by('n = 0', 'var n = 0') });
    const bump = by('n = n + 1\nn', 'n = n + 1');
    const told = await Promise.all(Array.from({ length: 5 }, () => run({ contextId, code: bump })));
    const texts = told.map((each) => (each as { results: { text: string }[] }).results[0]?.text);
    expect(texts.sort()).toEqual(['1', '2', '3', '4', '5']);
    await drop(contextId);
  });

  test('a client that goes ends what it ran', async () => {
    const { hostname, port } = new URL(server().url);
    const body = JSON.stringify({
      language,
      code: by(
        'open("begun", "w").close()\nwhile True: pass',
        'require("fs").writeFileSync("begun", ""); for (;;) {}',
      ),
    });
    const asked = request({
      host: hostname,
      port,
      method: 'POST',
      path: `/sandboxes/${id}/run-code`,
      headers: keyOf(server()),
    });
    asked.on('error', () => undefined);
    asked.end(body);
    await api.say(id, 'until [ -e begun ]; do :; done; rm begun');
    asked.destroy();
    await expect.poll(left).toBe('');
  });

  test('a context of a paused sandbox ends when that wakes', async () => {
    const contextId = await make(language);
    await api.answer(200, `POST /sandboxes/${id}/pause`);
    await drop(contextId);
    expect(await api.answer(200, `GET /sandboxes/${id}`)).toMatchObject({ status: 'paused' });
    expect(await contexts()).toEqual({ contexts: [] });
    expect(await left()).toBe('');
  });

  test('where there is no interpreter, that is said', async () => {
    const tools = 'sh id grep rm mkdir mv mkfifo setsid tail cat';
    await api.say(id, `mkdir tools; for each in ${tools}; do ln -s "$(command -v $each)" tools/; done`);
    await api.answer(200, `POST /sandboxes/${id}/env`, { env: { PATH: '/workspace/tools' } });
    const text = `the sandbox has no ${by('python3', 'node')}, which runs ${language}: install it`;
    const to = `/sandboxes/${id}` as const;
    expect(await api.refusal(422, `POST ${to}/run-code`, { language, code: '1' })).toBe(text);
    expect(await api.refusal(422, `POST ${to}/code-contexts`, { language })).toBe(text);
  });
});

test('tracebacks show the code and none of what runs it', async () => {
  const code = 'def broken():\n  return 1 / 0\n\nbroken()';
  expect(await run({ code })).toMatchObject({
    error: [
      'Traceback (most recent call last):',
      '  File "<run 1>", line 4, in <module>',
      '    broken()',
      '  File "<run 1>", line 2, in broken',
      '    return 1 / 0',
      '           ~~^~~',
      'ZeroDivisionError: division by zero',
    ].join('\n'),
  });
  expect(await run({ language: 'javascript', code: 'function f() { null.x }\nf()' })).toMatchObject({
    error: expect.stringMatching(
      /\nTypeError: Cannot read properties of null \(reading 'x'\)\n {4}at f \(run-1.js:1:21\)\n {4}at run-1.js:2:1$/,
    ),
  });
});

test('an answer that makes no sense is no fault of the server', async () => {
  const code = [
    'import glob, json, os',
    'def lie(folder):',
    '    with open(f"{folder}/result", "w") as file: json.dump({"stdout": 5}, file)',
    'real = os.replace',
    'os.replace = lambda a, b: (real(a, b), lie(os.path.dirname(b)))',
  ].join('\n');
  expect(await api.answer(422, `POST /sandboxes/${id}/run-code`, { code })).toMatchObject({
    error: expect.stringMatching(/makes no sense/),
  });
});
