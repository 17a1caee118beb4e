/** `sbx serve` with a socket that it was started with, as systemd hands one over. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, expect } from 'vitest';
import { bin, KEY } from '../support/built-server.ts';
import { requireOrSkip } from '../support/require.ts';

const folder = mkdtempSync(join(tmpdir(), 'sbx-socket-'));
const test = requireOrSkip(existsSync(join(bin, '../../dist/run.js')), 'a built sbx');
let running: ChildProcess | undefined;

afterEach(async () => {
  if (running === undefined || running.exitCode !== null) return;
  running.kill('SIGKILL');
  await once(running, 'exit');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Listens, says where, and becomes the command, with the socket as descriptor 3. */
const LAUNCHER = `
import os, socket, sys
family, address, count, *command = sys.argv[1:]
listener = socket.socket(getattr(socket, family))
listener.bind(address if family == "AF_UNIX" else (address, 0))
listener.listen()
print(listener.getsockname(), flush=True)
os.dup2(listener.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=count)
os.execv(command[0], command)`;

interface Handed {
  readonly family?: 'AF_INET' | 'AF_UNIX';
  readonly address?: string;
  readonly count?: number;
  readonly key?: string;
}

const started = ({ family = 'AF_INET', address = '127.0.0.1', count = 1, key = KEY }: Handed) => {
  const anywhere = ['--preview-listen', '127.0.0.1:0', '--egress-listen', '127.0.0.1:0'];
  const command = [process.execPath, bin, 'serve', ...anywhere];
  const child = spawn('python3', ['-c', LAUNCHER, family, address, `${count}`, ...command], {
    env: { PATH: process.env.PATH, SBX_STATE_DIR: folder, SBX_CONFIG_DIR: folder, SBX_API_KEY: key },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running = child;
  return child;
};

test('a client that comes before the server is ready is answered by it', async () => {
  const child = started({});
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const port = /(\d+)\)$/.exec(line)?.[1];
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`);
  expect(answer.status).toBe(200);
  child.kill('SIGTERM');
  expect(await text(child.stderr)).toContain(`serving at http://127.0.0.1:${port}\n`);
});

const refused: readonly (readonly [what: string, handed: Handed, why: string])[] = [
  ['one that others can reach, without a key', { address: '0.0.0.0', key: '' }, 'there is no API key'],
  ['several', { count: 2 }, '2 sockets were handed over'],
  ['one of no network', { family: 'AF_UNIX', address: join(folder, 'socket') }, 'is none of TCP'],
];

for (const [what, handed, why] of refused) {
  test(`${what} is refused`, async () => {
    const child = started(handed);
    expect(await text(child.stderr)).toContain(why);
    await expect.poll(() => child.exitCode).toBe(2);
  });
}
