/** `sbx serve` told to stop while it is used: everybody hears why, and sandboxes with what runs in them by itself live on. */
import { once } from 'node:events';
import { expect } from 'vitest';
import { WebSocket } from 'ws';
import { type BuiltServer, clientOf, KEY } from '../support/built-server.ts';
import { answer, eventsOf, madeOn, say, serverHost, builtTest as test } from '../support/server-host.ts';

const host = serverHost();

/** A stream of events that is read from its beginning on. */
interface Followed {
  /** Resolves when what came matches. */
  until(wanted: RegExp): Promise<void>;
  /** All events, once the stream has ended in good order. */
  readonly ended: Promise<Readonly<Record<string, unknown>>[]>;
}

function follow(asked: Promise<Response>): Followed {
  let text = '';
  const ended = (async () => {
    const { body } = await asked;
    for await (const chunk of body ?? []) text += Buffer.from(chunk).toString();
    return eventsOf(text);
  })();
  return { ended, until: (wanted) => expect.poll(() => text).toMatch(wanted) };
}

interface Terminal {
  readonly socket: WebSocket;
  readonly opened: Promise<unknown>;
  until(wanted: RegExp): Promise<void>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

function terminal({ url }: BuiltServer, path: string): Terminal {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${path}`, { headers: { 'x-api-key': KEY } });
  let screen = '';
  socket.on('message', (data) => {
    screen += String(data);
  });
  const opened = once(socket, 'open');
  const { promise: closed, resolve } = Promise.withResolvers<Awaited<Terminal['closed']>>();
  socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
  return { socket, opened, closed, until: (wanted) => expect.poll(() => screen).toMatch(wanted) };
}

const STOPPING = 'the server is stopping';

test('streams end with a message, terminals detach, and what lives by itself lives on', async () => {
  const state = host.newState();
  const first = await host.start(state);
  const id = await madeOn(first, { command: ['sleep', '3000'] });
  const { procId } = await answer(
    first.ask('POST', `/sandboxes/${id}/processes`, { command: 'echo begun; exec sleep 2000' }),
    201,
  );
  const exec = follow(first.ask('POST', `/sandboxes/${id}/exec`, { command: 'echo up; exec sleep 1000' }));
  const logs = follow(first.ask('GET', `/sandboxes/${id}/processes/${procId}/logs?follow=1`));
  const changes = follow(first.ask('GET', `/sandboxes/${id}/watch`));
  const shell = terminal(first, `/sandboxes/${id}/terminal`);
  const session = terminal(first, `/sandboxes/${id}/terminal?session=work`);
  await Promise.all([exec.until(/up/), logs.until(/begun/), changes.until(/: watching/)]);
  for (const each of [shell, session]) {
    await each.opened;
    each.socket.send(Buffer.from('X=kept; echo "re""ady"\r'));
    await each.until(/ready/);
  }

  first.kill('SIGTERM');

  expect((await exec.ended).slice(-2)).toEqual([
    { type: 'stderr', data: `${STOPPING}\n` },
    { type: 'exit', exitCode: 143 },
  ]);
  expect((await logs.ended).slice(-2)).toEqual([{ type: 'error', error: STOPPING }, { type: 'end' }]);
  expect((await changes.ended).slice(-1)).toEqual([{ type: 'error', error: STOPPING }]);
  expect(await shell.closed).toEqual({ code: 1001, reason: STOPPING });
  expect(await session.closed).toEqual({ code: 1001, reason: STOPPING });
  expect(await first.ended).toBe(0);

  const second = await host.start(state);
  const running = "pgrep -a sleep | grep -o 'sleep [123]000' | sort";
  expect(await say(second, id, running)).toBe('sleep 2000\nsleep 3000\n');
  const again = terminal(second, `/sandboxes/${id}/terminal?session=work`);
  await again.opened;
  again.socket.send(Buffer.from('echo "still $X"\r'));
  await again.until(/still kept/);
});

test('the command line says so, too', async () => {
  const server = await host.start(host.newState());
  let heard = '';
  const hear = (text: string) => {
    heard += text;
  };
  const sbx = clientOf(server.url, host.newFolder('client'), [], hear);
  const id = await madeOn(server, { name: 'box', command: ['sh', '-c', 'echo main; exec sleep 1000'] });
  const running = [
    sbx('exec', 'box', '--', 'sh', '-c', 'echo up; exec sleep 1000'),
    sbx('logs', '--follow', 'box'),
    sbx('files', 'watch', 'box', '/workspace'),
  ];
  for (const word of ['up\n', 'main\n']) await expect.poll(() => heard).toContain(word);
  const change = async () => {
    await say(server, id, 'echo x >> changed');
    return heard;
  };
  await expect.poll(change).toContain('changed');
  server.kill('SIGTERM');
  for (const each of running) expect(await each).toMatchObject({ stderr: expect.stringContaining(STOPPING) });
  expect(await server.ended).toBe(0);
});
