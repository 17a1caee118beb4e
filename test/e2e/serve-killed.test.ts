/** `sbx serve` killed with -9 at many moments: what the next one finds is whole, and what it says is what there is. */
import { readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { BuiltServer } from '../support/built-server.ts';
import { type Client, clientAt, leftovers, list } from '../support/crash.ts';
import { answer, madeOn, say, serverHost, builtTest as test } from '../support/server-host.ts';

const host = serverHost();
/** Milliseconds for a file that starts servers many times on a busy machine. */
const LONG_MS = 120_000;

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly status: string;
}

/** Servers one after the other over one state, each of which is killed. */
interface Line {
  readonly state: string;
  now(): BuiltServer;
  /** Does `act` and kills the server at the `count`-th change below its folder `below`. @returns the status that the client got; 0 for none */
  killedAt(count: number, below: string, act: (server: BuiltServer) => Promise<Response>): Promise<number>;
  /** Nothing but what the server tells is there, and all of it works. */
  expectWhole(): Promise<readonly Listed[]>;
}

async function line(): Promise<Line> {
  const state = host.newState();
  let server = await host.start(state);
  // Its folders are made by the first one.
  await madeOn(server, { name: 'first' });
  const client: Client = {
    env: { ...clientAt(state).env, SBX_STATE_DIR: state },
    root: join(state, 'local'),
  };
  return {
    state,
    now: () => server,
    async killedAt(count, below, act) {
      const moment = Promise.withResolvers<void>();
      let changes = 0;
      const watcher = watch(join(state, below), { recursive: true }, () => {
        if (++changes === count) moment.resolve();
      });
      // A plain user may not look into the folders of overlayfs.
      watcher.on('error', () => undefined);
      const asked = act(server).then(
        ({ status }) => status,
        () => 0,
      );
      await Promise.race([moment.promise, asked]);
      server.kill('SIGKILL');
      const [status] = await Promise.all([asked, server.ended]);
      watcher.close();
      server = await host.start(state);
      return status;
    },
    async expectWhole() {
      const { sandboxes } = await answer<{ readonly sandboxes: readonly Listed[] }>(
        server.ask('GET', '/sandboxes'),
      );
      const there = list(client).map(({ name, state }) => `${name} ${state}`);
      const told = sandboxes.filter(({ status }) => status !== 'vanished');
      expect(there.sort()).toEqual(told.map(({ name, status }) => `${name} ${status}`).sort());
      expect(await leftovers(client, [])).toEqual([]);
      return sandboxes;
    },
  };
}

test(
  'while it makes a sandbox, leaves all of it or nothing',
  async () => {
    const servers = await line();
    for (const moment of [1, 4, 10, 20, 40, 80]) {
      const body = { name: 'box', setup: ['echo set > up'] };
      const status = await servers.killedAt(moment, 'local', (server) =>
        server.ask('POST', '/sandboxes', body),
      );
      const box = (await servers.expectWhole()).find(({ name }) => name === 'box');
      const server = servers.now();
      if (status === 201) expect(box).toBeDefined();
      if (box !== undefined) {
        expect(await say(server, box.id, 'cat up')).toBe('set\n');
        await answer(server.ask('DELETE', '/sandboxes/box'));
      }
      // The name can be had again.
      await madeOn(server, { name: 'box' });
      await answer(server.ask('DELETE', '/sandboxes/box'));
    }
  },
  LONG_MS,
);

test(
  'while it removes, stops or pauses one, leaves it in one state or the other',
  async () => {
    const servers = await line();
    for (const [method, path] of [
      ['DELETE', ''],
      ['POST', '/stop'],
      ['POST', '/pause'],
    ] as const)
      for (const moment of [1, 3]) {
        await madeOn(servers.now(), { name: 'box' });
        await servers.killedAt(moment, 'local', (server) => server.ask(method, `/sandboxes/box${path}`));
        const box = (await servers.expectWhole()).find(({ name }) => name === 'box');
        if (box === undefined) continue;
        // A removal whose record was still to go leaves it so.
        if (method !== 'DELETE' || box.status !== 'vanished') {
          await answer(servers.now().ask('POST', '/sandboxes/box/start'));
          expect(await say(servers.now(), 'box', 'echo works')).toBe('works\n');
        }
        await answer(servers.now().ask('DELETE', '/sandboxes/box'));
      }
  },
  LONG_MS,
);

test(
  'while commands run, ends them; what was started in the background and the main command go on',
  async () => {
    const servers = await line();
    const id = await madeOn(servers.now(), { command: ['sleep', '3000'] });
    await answer(
      servers.now().ask('POST', `/sandboxes/${id}/processes`, { command: 'exec sleep 2000' }),
      201,
    );
    const command = 'echo up > file; exec sleep 1000';
    await servers.killedAt(1, 'local/sandboxes', (server) =>
      server.ask('POST', `/sandboxes/${id}/exec`, { command }),
    );
    const running = () => say(servers.now(), id, "pgrep -a sleep | grep -o 'sleep [123]000' | sort");
    await expect.poll(running).toBe('sleep 2000\nsleep 3000\n');
    await servers.expectWhole();
  },
  LONG_MS,
);

test(
  'while it makes a backup, has it whole or not at all',
  async () => {
    const servers = await line();
    const place = join(servers.state, 'serve/backups');
    await say(servers.now(), 'first', 'echo kept > file');
    for (const moment of [1, 2, 3, 4]) {
      const status = await servers.killedAt(moment, 'serve', (server) =>
        server.ask('POST', '/sandboxes/first/backups'),
      );
      const { backups } = await answer<{ readonly backups: readonly { readonly backupId: string }[] }>(
        servers.now().ask('GET', '/backups'),
      );
      expect(readdirSync(place).sort()).toEqual(backups.map(({ backupId }) => `${backupId}.tar.gz`).sort());
      if (status === 201) expect(backups).toHaveLength(1);
      for (const { backupId } of backups) {
        await say(servers.now(), 'first', 'echo lost > file');
        await answer(servers.now().ask('POST', '/sandboxes/first/restore', { backupId }));
        expect(await say(servers.now(), 'first', 'cat file')).toBe('kept\n');
        await answer(servers.now().ask('DELETE', `/backups/${backupId}`));
      }
    }
  },
  LONG_MS,
);
