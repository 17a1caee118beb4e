/** Ten thousand odd requests to all routes of `sbx serve`: none is answered with 500, and none ends it. */
import { randomInt } from 'node:crypto';
import { connect } from 'node:net';
import { expect } from 'vitest';
import { LISTS, VALUES } from '../../src/lib/server/contract/calls.ts';
import { type BuiltServer, KEY } from '../support/built-server.ts';
import { chanceOf } from '../support/fuzz/chance.ts';
import { type Aims, type OddRequest, oddRequest, routesIn } from '../support/fuzz/requests.ts';
import { answer, madeOn, say, serverHost, builtTest as test } from '../support/server-host.ts';

const REQUESTS = 10_000;
const AT_ONCE = 16;
/** So often the sandboxes that requests are about are put right again. */
const ROUND = 500;
/** Milliseconds that a client waits for an answer: some wait for a port or for the end of a command. */
const PATIENCE_MS = 300;
/** 501: the backend has no such operation; 502: nothing listens on the port inside. */
const EXPECTED = /^(101|2..|[34]..|501|502|none)$/;
/** Bytes of a request that a failure shows. */
const SHOWN = 500;

const host = serverHost();

test('of ten thousand odd requests to all routes none is 500, and none ends the server', async () => {
  const seed = Number(process.env.SBX_TEST_SEED ?? randomInt(2 ** 31));
  process.stdout.write(`seed ${seed}; the same requests again: SBX_TEST_SEED=${seed}\n`);
  const chance = chanceOf(seed);
  const server = await host.start(host.newState());
  const routes = routesIn(await answer(server.ask('GET', '/openapi.json')));
  const counts = new Map<string, number>();
  const failures: string[] = [];
  for (let done = 0; done < REQUESTS; done += ROUND) {
    const aims = await aimsOn(server);
    const requests = Array.from({ length: ROUND }, () => oddRequest(routes, aims, chance));
    await together(requests, async (request) => {
      const status = await statusOf(server, request);
      if (!EXPECTED.test(status))
        failures.push(`${status} for ${request.bytes.toString('latin1', 0, SHOWN)}`);
      counts.set(status, (counts.get(status) ?? 0) + 1);
    });
  }
  const told = [...counts].sort().map(([status, count]) => `${count} × ${status}`);
  process.stdout.write(`${told.join(', ')}\n`);
  expect(failures).toEqual([]);
  expect(server.said()).not.toContain('bug:');
  expect(server.said()).not.toContain(KEY);
  expect(await say(server, await madeOn(server), 'echo usable')).toBe('usable\n');
}, 120_000);

/** A sandbox that runs and one that is stopped, with something of everything in the first. */
async function aimsOn(server: BuiltServer): Promise<Aims> {
  const { sandboxes } = await answer<{ readonly sandboxes: readonly { readonly id: string }[] }>(
    server.ask('GET', '/sandboxes'),
  );
  await Promise.all(sandboxes.map(({ id }) => server.ask('DELETE', `/sandboxes/${id}`)));
  const [runs, stopped] = await Promise.all([madeOn(server), madeOn(server)]);
  await answer(server.ask('POST', `/sandboxes/${stopped}/stop`));
  const one = async (path: string, field: string, body: object = {}) =>
    String((await answer(server.ask('POST', `/sandboxes/${runs}/${path}`, body), 201))[field]);
  const [session, process, token, backup] = await Promise.all([
    one('sessions', 'sessionId'),
    one('processes', 'procId', { command: 'sleep 1000' }),
    one('egress-tokens', 'token'),
    one('backups', 'backupId'),
    one('expose', 'port', { port: 8000 }),
  ]);
  return {
    key: KEY,
    names: {
      id: [runs, runs, stopped, stopped, stopped],
      sid: [session],
      procId: [process],
      token: [token],
      backupId: [backup],
      port: ['8000'],
      name: [...Object.keys(VALUES), ...Object.keys(LISTS)],
    },
  };
}

/** Does all, so many at once. */
async function together<T>(all: readonly T[], act: (each: T) => Promise<void>): Promise<void> {
  const rest = all[Symbol.iterator]();
  const worker = async () => {
    for (const each of rest) await act(each);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** The status that comes; `none` when the connection ends without one, or the client has waited long enough and leaves. */
function statusOf({ url }: BuiltServer, { bytes, cut }: OddRequest): Promise<string> {
  const { hostname, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(Number(port), hostname);
  const timer = setTimeout(() => socket.destroy(), PATIENCE_MS);
  let said = '';
  socket.on('data', (data) => {
    said += data.toString('latin1');
    // One that goes on waits for more of the body.
    const status = /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 (\d{3}) /.exec(said)?.[1];
    if (status === undefined || status === '100') return;
    resolve(status);
    socket.destroy();
  });
  socket.on('error', () => socket.destroy());
  socket.once('close', () => {
    clearTimeout(timer);
    resolve('none');
  });
  socket.write(bytes);
  if (cut) socket.end();
  return promise;
}
