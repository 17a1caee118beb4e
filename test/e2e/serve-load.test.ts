/** Many sandboxes and many streams at once, none of which is lost, and sandboxes that fall asleep and wake. */
import { readFileSync, readlinkSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type BuiltServer, clientOf, KEY } from '../support/built-server.ts';
import { memoryOf } from '../support/memory-of.ts';
import {
  answer,
  eventsOf,
  madeOn,
  printed,
  say,
  serverHost,
  builtTest as test,
} from '../support/server-host.ts';

const host = serverHost();
const SANDBOXES = 20;
const STREAMS = 80;

test('many streams at once in many sandboxes, and each gets all that is its own', async () => {
  const server = await host.start(host.newState());
  const ids = await Promise.all(Array.from({ length: SANDBOXES }, () => madeOn(server)));
  expect(new Set(ids).size).toBe(SANDBOXES);
  const begun = Promise.withResolvers<void>();
  let open = 0;
  const streams = Array.from({ length: STREAMS }, async (_, number) => {
    const command = `mkfifo go-${number}; echo begun ${number}; read _ < go-${number}; seq 1000; exit ${number}`;
    const id = ids[number % SANDBOXES];
    let text = '';
    for await (const chunk of await execution(server, String(id), command)) {
      if (text === '' && ++open === STREAMS) begun.resolve();
      text += String(chunk);
    }
    // Those that ended too soon are not waited for.
    begun.resolve();
    return text;
  });
  await begun.promise;
  await Promise.all(ids.map((id) => say(server, id, 'for each in go-*; do echo > "$each"; done')));
  const numbers = Array.from({ length: 1000 }, (_, n) => `${n + 1}\n`).join('');
  for (const [number, text] of (await Promise.all(streams)).entries()) {
    expect(printed(text)).toBe(`begun ${number}\n${numbers}`);
    expect(eventsOf(text).at(-1)).toEqual({ type: 'exit', exitCode: number });
  }
  process.stdout.write(`${memoryOf(server.pid).peak.toFixed(0)} MB at most\n`);
}, 120_000);

test('idle sandboxes are paused, their processes with them, and any use wakes them', async () => {
  const state = host.newState();
  const server = await host.start(state, { flags: ['--sleep-after', '1s'] });
  const sbx = clientOf(server.url, host.newFolder('client'));
  const ticking = ['sh', '-c', 'while :; do date +%s%N > tick; sleep 0.05; done'];
  const id = await madeOn(server, { name: 'box', command: ticking });
  const status = async () => (await answer(server.ask('GET', `/sandboxes/${id}`))).status;
  const tick = () => readFileSync(join(workspaceOf(state, 'box'), 'tick'), 'utf8');
  const wakes: readonly (() => Promise<unknown>)[] = [
    () => say(server, id, 'true'),
    () => answer(server.ask('POST', `/sandboxes/${id}/files/list`, { path: '/' })),
    () => sbx('exec', 'box', '--', 'true'),
  ];
  for (const wake of wakes) {
    await expect.poll(status).toBe('paused');
    const before = tick();
    // To be looked at wakes nobody.
    await server.ask('GET', `/sandboxes/${id}/metrics`);
    expect(tick()).toBe(before);
    await wake();
    await expect.poll(tick).not.toBe(before);
  }
});

/** A command's stream over a connection of its own, whatever others do. */
function execution({ url }: BuiltServer, id: string, command: string): Promise<IncomingMessage> {
  const options = { method: 'POST', agent: false, headers: { 'x-api-key': KEY } };
  return new Promise((resolve, reject) => {
    request(`${url}/sandboxes/${id}/exec`, options, resolve)
      .once('error', reject)
      .end(JSON.stringify({ command }));
  });
}

/** Where the files of a local sandbox lie on this machine. */
function workspaceOf(state: string, name: string): string {
  const folder = join(state, 'local/names', name);
  return join(state, 'local/sandboxes', readlinkSync(folder).replace(/^.*\//, ''), 'upper/workspace');
}
