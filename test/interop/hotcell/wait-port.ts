/** Waiting for a port of a sandbox. */
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import type { Harness } from './harness.ts';

/** Listens on a port that the system picks and tells it. */
const listen =
  'import socket,time; s=socket.socket(); s.bind(("127.0.0.1",0)); s.listen(); print(s.getsockname()[1],flush=True); time.sleep(1000)';

export function waitPortTopic(h: Harness): void {
  const wait = async (body: unknown, id?: string) =>
    h.answer(200, `POST /sandboxes/${id ?? (await h.shared()).id}/wait-port`, body);

  h.when(h.has('python'))('a port on which somebody listens is ready', async () => {
    const { id } = await h.sandbox();
    const { procId } = await h.answer<{ procId: string }>(201, `POST /sandboxes/${id}/processes`, {
      command: `python3 -c '${listen}' > port`,
    });
    const port = Number(await h.say(id, 'until [ -s port ]; do :; done; cat port'));
    expect(await wait({ port }, id)).toStrictEqual({ ready: true });
    expect(await wait({ port, timeoutMs: 20_000, intervalMs: 10, host: '127.0.0.1' }, id)).toStrictEqual({
      ready: true,
    });
    await h.answer(200, `DELETE /sandboxes/${id}/processes/${procId}`, { signal: 'KILL' });
  });

  test('one on which nobody does is not, when the time is over', async () => {
    const port = await freePort();
    expect(await wait({ port, timeoutMs: 1, intervalMs: 1 })).toStrictEqual({ ready: false });
  });

  test.each([{}, { port: 0 }, { port: -1 }, { port: 1.5 }, { port: 'http' }, { port: null }, { port: {} }])(
    '%j is refused',
    async (body) => {
      const { id } = await h.shared();
      expect(await h.refusal(400, `POST /sandboxes/${id}/wait-port`, body)).toBe('port is required');
    },
  );

  if (h.strict)
    test.each([
      { port: 70_000 },
      { port: '80' },
      { port: true },
      { port: 80, timeoutMs: -1 },
      { port: 80, timeoutMs: '1' },
      { port: 80, intervalMs: 0 },
      { port: 80, intervalMs: '1' },
      { port: 80, host: 5 },
      { port: 80, host: 'other.example' },
    ])('%j is refused', async (body) => {
      await h.refusal(400, `POST /sandboxes/${(await h.shared()).id}/wait-port`, body);
    });
}

/** A port that nobody has. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
