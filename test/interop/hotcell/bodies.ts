/** Bodies of requests: their size, and what is no JSON. */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import type { Api } from './api.ts';
import { configured, type Harness } from './harness.ts';
import { plainRoutes, type Route, targetOf } from './routes.ts';
import { jsonOf, keyOf } from './server.ts';
import { recordShape } from './shapes.ts';

const CAP = configured.maxBodyBytes;
const tooLarge = { error: 'request body too large' };

/** Routes that read what they are sent. */
const reading = plainRoutes.filter(
  ({ method, path }) => method === 'POST' && !/\/(stop|start|pause|backups)$/.test(path),
);

export function bodiesTopic(h: Harness): void {
  test('an empty body is as good as {}', async () => {
    const { id } = await h.shared();
    expect(await h.answer(200, `POST /sandboxes/${id}/env`)).toStrictEqual({ env: {} });
    expect(await h.answer(200, `POST /sandboxes/${id}/env`, '')).toStrictEqual({ env: {} });
  });

  test('a body is JSON whatever its content type says', async () => {
    const { id } = await h.shared();
    const headers = { ...keyOf(h.server()), 'content-type': 'text/plain' };
    const answer = await h.ask(`POST /sandboxes/${id}/files/list`, {
      headers,
      body: '{"path":"/workspace"}',
    });
    expect(answer.status).toBe(200);
  });

  test('fields that nobody knows are passed over', async () => {
    expect(await h.sandbox({ noSuchField: 1 })).toStrictEqual(recordShape());
  });

  test('more than the cap is refused, and exactly the cap is not', () =>
    h.another(configured, async (api) => {
      const padded = (bytes: number) => '{}'.padEnd(bytes);
      expect(jsonOf(await api.ask('POST /sandboxes', { body: padded(CAP + 1) }), 413)).toStrictEqual(
        tooLarge,
      );
      expect(await api.answer(200, 'GET /sandboxes')).toStrictEqual({ sandboxes: [] });
      const { id } = await api.answer<{ id: string }>(201, 'POST /sandboxes', padded(CAP));
      for (const route of reading) {
        const answer = await api.ask(targetOf(route, id), { body: padded(CAP + 1) });
        expect(jsonOf(answer, 413), route.path).toStrictEqual(tooLarge);
      }
      expect(await sendChunks(api, [padded(CAP), ' '])).toMatch(/^HTTP\/1\.1 413 /);
      expect(await sendChunks(api, ['{}', padded(CAP - 2).replace('{}', '  ')])).toMatch(/^HTTP\/1\.1 201 /);
      if (h.strict) expect(await announce(api, 1e15)).toMatch(/^HTTP\/1\.1 413 /);
    }));

  const odd = ['{', '{"a":', 'nonsense', '[]', '"text"', '7', 'null', 'true', '\u0000', '{"a":1}}'];
  if (h.strict)
    test.each(reading.map((route): [string, Route] => [route.path, route]))(
      '%s refuses what is no object',
      async (_, route) => {
        const { id } = await h.shared();
        for (const body of odd) await h.refusal(400, targetOf(route, id), body);
      },
    );
}

/** Creates a sandbox with a body that does not say how long it is. @returns the answer as it came */
async function sendChunks(api: Api, chunks: readonly string[]): Promise<string> {
  const body = chunks.map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`).join('');
  return await talk(api, `transfer-encoding: chunked\r\n\r\n${body}0\r\n\r\n`);
}

/** Creates a sandbox with a body of so many bytes that never comes. */
async function announce(api: Api, bytes: number): Promise<string> {
  return await talk(api, `content-length: ${bytes}\r\n\r\n{`);
}

async function talk(api: Api, rest: string): Promise<string> {
  const { hostname, port } = new URL(api.server().url);
  const socket = connect(Number(port), hostname);
  socket.write('POST /sandboxes HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n');
  socket.write(`authorization: Bearer ${api.server().key}\r\n${rest}`);
  return await text(socket);
}
